import type { Resource } from "@isthmus/core";
import type { ReactNode } from "react";
import { Facts } from "../components/Facts.tsx";
import { When } from "../components/Times.tsx";
import { t } from "../strings.ts";
import { Labels } from "./Labels.tsx";

/** What is known of each object, after what its kind adds. */
export function ObjectFacts({
  object,
  rows = [],
}: {
  readonly object: Resource;
  readonly rows?: readonly (readonly [string, ReactNode])[];
}) {
  const { creationTimestamp, generation, labels } = object.metadata;
  return (
    <Facts
      rows={[
        ...rows,
        [t.objects.created, creationTimestamp === undefined ? undefined : <When key="created" time={creationTimestamp} />],
        [t.objects.generation, generation],
        [t.objects.labels, labels === undefined ? undefined : <Labels key="labels" labels={labels} />],
      ]}
    />
  );
}
