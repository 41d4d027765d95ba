import { fullKeyOf, refOf } from "@isthmus/core";
import { useState } from "react";
import type { GeneratedObject } from "../model/generatedObjects.ts";
import { t } from "../strings.ts";
import { Empty } from "./Empty.tsx";
import { ClusterChip, ObjectLink } from "./ObjectLink.tsx";
import { YamlView } from "./YamlView.tsx";

// A VirtualMesh generates thousands.
const PAGE = 100;

/** Generated objects by cluster and kind; each opens as YAML in place. */
export function GeneratedList({ objects }: { readonly objects: readonly GeneratedObject[] }) {
  const [most, setMost] = useState(PAGE);
  if (objects.length === 0) return <Empty title={t.objects.generatedNone} how={t.objects.generatedNoneWhy} />;
  return (
    <div className="generated">
      <p className="note">{t.objects.generatedCount(objects.length)}</p>
      {objects.slice(0, most).map((each) => (
        <GeneratedItem key={fullKeyOf(each.resource)} {...each} />
      ))}
      {objects.length > most ? (
        <button type="button" className="button" onClick={() => setMost(most + PAGE)}>
          {t.common.more(objects.length - most)}
        </button>
      ) : null}
    </div>
  );
}

function GeneratedItem({ resource, via }: GeneratedObject) {
  const [isOpen, setIsOpen] = useState(false);
  const { kind, metadata } = resource;
  return (
    <div className="generated-item">
      <div className="generated-head">
        <button type="button" className="button small" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> {t.objects.tabs.yaml}
          <span className="visually-hidden">{` ${kind} ${metadata.name} ${metadata.clusterName ?? ""}`}</span>
        </button>
        <ClusterChip name={metadata.clusterName || t.common.management} />
        <ObjectLink to={refOf(resource)} text={`${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}`} hasKind />
        {via === undefined ? null : (
          <span className="muted">
            {t.objects.generatedVia} <ObjectLink to={refOf(via)} text={via.metadata.name} />
          </span>
        )}
      </div>
      {isOpen ? <YamlView value={resource} label={`${kind} ${metadata.name}`} /> : null}
    </div>
  );
}
