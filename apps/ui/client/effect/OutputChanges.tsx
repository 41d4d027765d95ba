import { refOf } from "@isthmus/core";
import { useState } from "react";
import { DifferenceView } from "../components/DifferenceView.tsx";
import { ClusterChip, ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import type { Status } from "../model/status.ts";
import { t } from "../strings.ts";
import type { OutputChange } from "../translation/whatIf.ts";

const PAGE = 50;

export interface OutputChangesProps {
  readonly changes: readonly OutputChange[];
  readonly title?: string;
  /** Instead of the list, if it is empty. */
  readonly none?: string;
}

/** Objects that would be written, changed or deleted, cluster by cluster; each opens as its difference. */
export function OutputChanges({ changes, title = t.whatIf.outputs, none = t.whatIf.outputsNone }: OutputChangesProps) {
  const [most, setMost] = useState(PAGE);
  const counts = clusterCounts(changes);
  return (
    <Section
      title={`${title} · ${changes.length}`}
      note={changes.length === 0 ? none : counts.map(([cluster, count]) => `${cluster} ${count}`).join(" · ")}
    >
      <div className="generated">
        {changes.slice(0, most).map((change, i) => (
          <Change key={change.key} change={change} isOpenFirst={i === 0} />
        ))}
      </div>
      {changes.length > most ? (
        <button type="button" className="button" onClick={() => setMost(most + PAGE)}>
          {t.common.more(changes.length - most)}
        </button>
      ) : null}
    </Section>
  );
}

function Change({ change: { before, after }, isOpenFirst }: { readonly change: OutputChange; readonly isOpenFirst: boolean }) {
  const [isOpen, setIsOpen] = useState(isOpenFirst);
  const resource = after ?? before;
  if (resource === undefined) return null;
  const { kind, metadata } = resource;
  return (
    <div className="generated-item">
      <div className="generated-head">
        <button type="button" className="button small" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> {t.whatIf.difference}
          <span className="visually-hidden">{` ${kind} ${metadata.name} ${metadata.clusterName ?? ""}`}</span>
        </button>
        <StatusMark status={statusOf(before !== undefined, after !== undefined)} />
        <ClusterChip name={metadata.clusterName || t.common.management} />
        <ObjectLink to={refOf(resource)} text={`${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}`} hasKind />
      </div>
      {isOpen ? <DifferenceView before={before} after={after} label={`${kind} ${metadata.name}`} /> : null}
    </div>
  );
}

function statusOf(was: boolean, is: boolean): Status {
  if (!was) return { tone: "good", word: t.whatIf.created };
  return is ? { tone: "progress", word: t.whatIf.changed } : { tone: "bad", word: t.whatIf.deleted };
}

function clusterCounts(changes: readonly OutputChange[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const { before, after } of changes) {
    const cluster = (after ?? before)?.metadata.clusterName || t.common.management;
    counts.set(cluster, (counts.get(cluster) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}
