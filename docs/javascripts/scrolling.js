// What scrolls can be reached with the keyboard (WCAG 2.2, 2.1.1): Zensical leaves some scroll areas out of the tab order.
const areas = ".md-typeset pre, .md-typeset pre > code, .md-typeset__scrollwrap, .md-typeset__table";

function reachable() {
  for (const area of document.querySelectorAll(areas)) {
    const scrolls = area.scrollWidth > area.clientWidth && getComputedStyle(area).overflowX !== "visible";
    if (scrolls && !area.querySelector("a, [tabindex='0']")) area.tabIndex = 0;
  }
}

window.addEventListener("load", reachable);
window.addEventListener("resize", reachable);
