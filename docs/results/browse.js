// Shows the CSV files of the results, filtered by words, `column=value` and `column<number`.
"use strict";
(() => {
  const files = ["index", "dally", "gittins", "classical", "sharing", "topdrl", "lwf", "marl", "metarl", "pairs", "pollux", "profiles"];
  const most = 200;
  const at = new URL("data/", document.currentScript.src);
  const [file, filter, count, table] = ["file", "filter", "count", "table"].map((id) => document.getElementById(`browse-${id}`));
  let columns = [], rows = [];

  function parse(text) {
    const found = [[]];
    for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/g)) {
      found.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
      if (end === "") break;
      if (end !== ",") found.push([]);
    }
    return found.filter((row) => row.length > 1);
  }

  function condition(word) {
    const [, name, sign, value] = word.match(/^(\w+)(<=|>=|=|<|>)(.+)$/) ?? [];
    const k = columns.indexOf(name);
    if (k < 0) return (row) => row.some((cell) => cell.includes(word));
    const number = Number(value);
    const tests = {
      "=": (cell) => cell === value || (cell !== "" && Number(cell) === number),
      "<": (cell) => Number(cell) < number, "<=": (cell) => Number(cell) <= number,
      ">": (cell) => Number(cell) > number, ">=": (cell) => Number(cell) >= number,
    };
    return (row) => row[k] !== "" && tests[sign](row[k]);
  }

  function line(cells, kind) {
    const row = document.createElement("tr");
    for (const cell of cells) row.appendChild(document.createElement(kind)).textContent = cell;
    return row;
  }

  function show() {
    const wanted = filter.value.split(/\s+/).filter(Boolean).map(condition);
    const found = rows.filter((row) => wanted.every((test) => test(row)));
    table.replaceChildren(line(columns, "th"), ...found.slice(0, most).map((row) => line(row, "td")));
    count.textContent = `${found.length} of ${rows.length} rows` + (found.length > most ? `, the first ${most} shown` : "");
  }

  async function load() {
    const answer = await fetch(new URL(`${file.value}.csv`, at));
    [columns, ...rows] = parse(await answer.text());
    show();
  }

  filter.value = decodeURIComponent(location.hash.slice(1));
  file.append(...files.map((name) => new Option(name)));
  file.addEventListener("change", load);
  filter.addEventListener("input", show);
  load();
})();
