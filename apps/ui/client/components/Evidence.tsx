import type { ResourceRef } from "@isthmus/core";
import { Link } from "@tanstack/react-router";
import { useId, useMemo, useState } from "react";
import { useFleet } from "../data/store.ts";
import { excerptOf, fieldLines } from "../model/lines/fieldLines.ts";
import { paramsOf } from "../model/objectPath.ts";
import { t } from "../strings.ts";
import { objectOf } from "./ObjectLink.tsx";
import { YamlLineText } from "./YamlLineText.tsx";

// Of a field; the page of the object has all of it.
const MOST_LINES = 12;

/** The lines of an object that an insight is about, when somebody opens it; nothing where the field is not in the object. */
export function Evidence({ object: ref, field }: { readonly object: ResourceRef; readonly field: string }) {
  const [isOpen, setIsOpen] = useState(false);
  const id = useId();
  if (field === "") return null;
  return (
    <div className="evidence">
      <button type="button" className="button small" aria-expanded={isOpen} aria-controls={id} onClick={() => setIsOpen(!isOpen)}>
        <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> {t.insights.evidence}
        <span className="visually-hidden">{` ${ref.kind} ${ref.name} ${field}`}</span>
      </button>
      <div id={id}>{isOpen ? <Excerpt of={ref} field={field} /> : null}</div>
    </div>
  );
}

function Excerpt({ of, field }: { readonly of: ResourceRef; readonly field: string }) {
  const object = objectOf(useFleet(), of);
  const found = useMemo(() => (object === undefined ? undefined : fieldLines(object, field)), [object, field]);
  const lines = useMemo(() => (found === undefined ? [] : excerptOf(found, MOST_LINES)), [found]);
  if (object === undefined) return <p className="muted">{t.objects.absent}</p>;
  if (found === undefined) return <p className="muted">{t.insights.evidenceNone}</p>;
  const left = found.to - found.from - MOST_LINES;
  return (
    <>
      {found.isThere ? null : <p className="muted">{t.insights.evidenceAbove}</p>}
      <div className="yaml">
        <pre role="region" tabIndex={0} aria-label={`${t.insights.evidence} ${of.kind} ${of.name} ${field}`}>
          {lines.map(({ line: { indent, key, value }, isOfField }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
            <span key={i} className="yaml-line" data-found={isOfField || undefined}>
              <YamlLineText indent={indent} name={key} value={value} />
            </span>
          ))}
          {left > 0 ? t.common.more(left) : null}
        </pre>
      </div>
      <Link to="/object/$group/$kind/$cluster/$namespace/$name" params={paramsOf(of)} search={{ tab: "yaml", field }}>
        {t.insights.evidenceInObject}
      </Link>
    </>
  );
}
