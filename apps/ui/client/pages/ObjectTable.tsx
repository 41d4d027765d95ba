import type { Resource } from "@isthmus/core";
import { useCallback, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { CopyDialog } from "../components/CopyDialog.tsx";
import { usePageSearch } from "../components/frame/usePageSearch.ts";
import { ResourceTable, type ResourceTableProps } from "../components/table/ResourceTable.tsx";
import { copiesOf } from "../model/copies.ts";
import { panelObjectOf, panelPath } from "../model/objectPath.ts";
import { isSameObject, SidePanel } from "./SidePanel.tsx";

export interface ObjectTableProps<R> extends Omit<ResourceTableProps<R>, "open" | "panel" | "copy"> {
  /** The object that a row is about; undefined: there is none to show. */
  objectOf(row: R): Resource | undefined;
  /** Whether that is the generated object, though another one of its name is reported. Default: no. */
  isBesideOther?(row: R): boolean;
}

/** A table of objects: a row opens beside it, and the address has which one. */
export function ObjectTable<R>({ objectOf, isBesideOther = () => false, ...table }: ObjectTableProps<R>) {
  const [{ open }, change] = usePageSearch();
  const shown = useMemo(() => (open === undefined ? undefined : panelObjectOf(open)), [open]);
  const [copied, setCopied] = useState<Resource>();
  const title = useRef<HTMLHeadingElement>(null);
  const close = useCallback(() => {
    const row = document.querySelector<HTMLElement>(".table-row[data-open] a");
    change({ open: undefined });
    row?.focus();
  }, [change]);
  const show = (row: R): void => {
    const object = objectOf(row);
    if (object !== undefined) change({ open: panelPath(object, isBesideOther(row)) });
  };
  return (
    <div className="beside">
      <ResourceTable
        {...table}
        open={show}
        copy={(row) => flushSync(() => setCopied(objectOf(row)))}
        panel={{
          isShown: shown !== undefined,
          isOf(row) {
            const object = shown === undefined ? undefined : objectOf(row);
            return (
              object !== undefined && shown !== undefined && isSameObject(object, shown.ref) && isBesideOther(row) === shown.isGenerated
            );
          },
          focus: () => title.current?.focus(),
        }}
      />
      {copied === undefined ? null : (
        <CopyDialog about={aboutOf(copied)} copies={copiesOf(copied, window.location.origin)} close={() => setCopied(undefined)} />
      )}
      {shown === undefined ? null : <SidePanel of={shown.ref} isGenerated={shown.isGenerated} close={close} title={title} />}
    </div>
  );
}

function aboutOf({ kind, metadata: { namespace = "", name } }: Resource): string {
  return `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`;
}
