import { Menu } from "@mantine/core";
import { t } from "../strings.ts";
import { type Column, hiddenIds } from "./tableColumns.ts";
import { usePageSearch } from "./usePageSearch.ts";

/** Which columns of a table are shown; those that are not are named in the address. The first one names the row, and stays. */
export function ColumnChooser<R>({ columns }: { readonly columns: readonly Column<R>[] }) {
  const [{ hide }, change] = usePageSearch();
  const hidden = hiddenIds(columns, hide);
  const setHidden = (ids: readonly string[]) => change({ hide: ids.length === 0 ? undefined : ids.join(",") });
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
