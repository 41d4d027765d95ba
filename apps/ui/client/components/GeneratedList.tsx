import { fullKeyOf, type Resource, refOf } from "@isthmus/core";
import { useState } from "react";
import { useFleet } from "../data/store.ts";
import type { GeneratedObject } from "../model/generatedObjects.ts";
import { generatedState } from "../model/generatedState.ts";
import { t } from "../strings.ts";
import { DifferenceView } from "./DifferenceView.tsx";
import { Empty } from "./Empty.tsx";
import { Name } from "./Name.tsx";
import { ClusterChip, ObjectLink } from "./ObjectLink.tsx";
import { StatusMark } from "./StatusMark.tsx";
import { YamlView } from "./YamlView.tsx";

// A VirtualMesh generates thousands.
const PAGE = 100;

/** Generated objects by cluster and kind; each opens as YAML in place. */
export function GeneratedList({ objects }: { readonly objects: readonly GeneratedObject[] }) {
  const [most, setMost] = useState(PAGE);
  if (objects.length === 0) return <Empty title={t.objects.generatedNone} how={t.objects.generatedNoneWhy} />;
  return (
    <div className="generated">
      <p className="note">
        {t.objects.generatedCount(objects.length)}. {t.generated.what}
      </p>
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
  const { status, message, reported } = generatedState(useFleet(), resource);
  const { kind, metadata } = resource;
  return (
    <div className="generated-item">
      <div className="generated-head">
        <button type="button" className="button small" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> {reported === undefined ? t.objects.tabs.yaml : t.whatIf.difference}
          <span className="visually-hidden">{` ${kind} ${metadata.name} ${metadata.clusterName ?? ""}`}</span>
        </button>
        <StatusMark status={status} />
        <ClusterChip name={metadata.clusterName || t.common.management} />
        <ObjectLink to={refOf(resource)} text={`${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}`} hasKind />
        {via === undefined ? null : (
          <span className="muted">
            {t.objects.generatedVia} <ObjectLink to={refOf(via)} text={via.metadata.name} />
          </span>
        )}
      </div>
      {message === "" ? null : (
        <p className="note">
          <Name text={message} isWrapped />
        </p>
      )}
      {isOpen ? <Opened resource={resource} reported={reported} /> : null}
    </div>
  );
}

function Opened({ resource, reported }: { readonly resource: Resource; readonly reported: Resource | undefined }) {
  const label = `${resource.kind} ${resource.metadata.name}`;
  if (reported === undefined) return <YamlView value={resource} label={label} />;
  return (
    <>
      <p className="note">{t.generated.legend}</p>
      <DifferenceView before={reported} after={resource} label={label} sides={t.generated.sides} />
    </>
  );
}
