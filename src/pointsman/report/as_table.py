"""What `pointsman compare` prints, in notebooks and papers."""

from abc import ABC, abstractmethod

from pointsman.report.tables.tables import Table


class AsTable(ABC):
    """Something that is shown as one table."""

    @abstractmethod
    def _table(self) -> Table:
        """The table."""

    def _repr_html_(self) -> str:
        """For notebooks: the table that `pointsman compare` prints."""
        return self._table()._repr_html_()

    def to_markdown(self) -> str:
        """The table that `pointsman compare` prints, in Markdown."""
        return self._table().to_markdown()

    def to_latex(self) -> str:
        r"""The table that `pointsman compare` prints, as a ``tabular`` with the rules of booktabs
        (``\usepackage{booktabs}``).
        """
        return self._table().to_latex()
