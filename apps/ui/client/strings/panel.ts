/** Words of the panel beside a table, and of the choice of its columns. */
export const panelStrings = {
  columns: "Columns",
  allColumns: "All columns",
  label: (kind: string, name: string) => `${kind} ${name}`,
  page: "Open page",
  close: "Close panel",
  tabs: "On its page",
} as const;
