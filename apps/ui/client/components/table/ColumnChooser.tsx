import { Menu } from "@mantine/core";
import { t } from "../../strings.ts";
import { usePageSearch } from "../frame/usePageSearch.ts";
import { ALL_COLUMNS, type Column } from "./tableColumns.ts";

export interface ColumnChooserProps<R> {
  readonly columns: readonly Column<R>[];
  /** Those that are shown: all others are hidden, or there is no room for them. */
  readonly chosen: readonly Column<R>[];
}

/** Which columns of a table are shown; those that somebody hides are named in the address, and from then on nothing else is left out. The first one names the row, and stays. */
export function ColumnChooser<R>({ columns, chosen }: ColumnChooserProps<R>) {
  const [, change] = usePageSearch();
  const hidden = columns.filter((column) => !chosen.includes(column)).map(({ id }) => id);
  const setHidden = (ids: readonly string[]) => change({ hide: ids.length === 0 ? ALL_COLUMNS : ids.join(",") });
  return (
    <Menu
      closeOnItemClick={false}
      withInitialFocusPlaceholder={false}
      position="bottom-end"
      withinPortal={false}
      transitionProps={{ duration: 0 }}
    >
      <Menu.Target>
        <button type="button" className="button small">
          {t.panel.columns}
          {hidden.length === 0 ? null : ` ${columns.length - hidden.length}/${columns.length}`} <span aria-hidden="true">▾</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {columns.slice(1).map(({ id, title }) => {
          const isHidden = hidden.includes(id);
          return (
            <Menu.CheckboxItem
              key={id}
              checked={!isHidden}
              onChange={() => setHidden(isHidden ? hidden.filter((each) => each !== id) : [...hidden, id])}
            >
              {title}
            </Menu.CheckboxItem>
          );
        })}
        {hidden.length === 0 ? null : <Menu.Item onClick={() => setHidden([])}>{t.panel.allColumns}</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}
