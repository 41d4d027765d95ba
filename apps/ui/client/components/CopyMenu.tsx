import type { Resource } from "@isthmus/core";
import { Menu } from "@mantine/core";
import { copiesOf } from "../model/copies.ts";
import { yamlText } from "../model/lines/yamlLines.ts";
import { t } from "../strings.ts";
import { useCopy } from "./CopyButton.tsx";

/** What can be copied of an object: the commands that show it, its link, itself. */
export function CopyMenu({ object }: { readonly object: Resource }) {
  const { isCopied, copy } = useCopy();
  const items = [...copiesOf(object, window.location.origin), { label: t.objects.copyYaml, text: () => yamlText(object) }];
  return (
    <Menu withInitialFocusPlaceholder={false} position="bottom-end" withinPortal={false} transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <button type="button" className="button">
          <span aria-live="polite">{isCopied ? t.common.copied : t.objects.copyMenu}</span> <span aria-hidden="true">▾</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {items.map(({ label, text }) => (
          <Menu.Item key={label} onClick={() => void copy(text())}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
