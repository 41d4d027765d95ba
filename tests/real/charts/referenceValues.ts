import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

const CHARTS = fileURLToPath(new URL("../../../deploy/helm", import.meta.url));

/** Charts that have values. */
export const chartsWithValues = ["gloo-mesh-mgmt-server", "gloo-mesh-agent"] as const;

/** A value of the reference's charts that one of ours has not. */
export interface ReferenceValue {
  /** Its path: `relay.tlsSecret.name`. */
  readonly value: string;
  /** Its one content that changes nothing, if there is one; NAMESPACE is that of the release. */
  readonly accepted?: string | boolean;
  readonly instead: string;
}

export const NAMESPACE = "{{ .Release.Namespace }}";

/** Those that the templates of a chart refuse, in their order. */
export function referenceValuesOf(chart: (typeof chartsWithValues)[number]): readonly ReferenceValue[] {
  const text = readFileSync(`${CHARTS}/${chart}/templates/_referenceValues.tpl`, "utf8");
  const [, list = ""] = /\.referenceValues" -\}\}\n(.*?)\{\{- end \}\}/s.exec(text) ?? [];
  return parse(list.replaceAll(NAMESPACE, JSON.stringify(NAMESPACE))) as readonly ReferenceValue[];
}

/** Values with one content at a path. */
export function valuesWith(path: string, content: unknown, base: object = {}): Readonly<Record<string, unknown>> {
  const [name = "", ...rest] = path.split(".");
  const inner = (base as Record<string, unknown>)[name];
  const isNested = typeof inner === "object" && inner !== null;
  return { ...base, [name]: rest.length === 0 ? content : valuesWith(rest.join("."), content, isNested ? inner : {}) };
}
