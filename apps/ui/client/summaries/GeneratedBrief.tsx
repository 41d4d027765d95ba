import { type Resource, refOf } from "@isthmus/core";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { useFleet } from "../data/store.ts";
import { generatedObjectsOf } from "../model/generatedObjects.ts";
import { paramsOf } from "../model/objectPath.ts";
import { t } from "../strings.ts";

/** Which kinds of objects are generated because of one, and in how many clusters; a link to them. */
export function GeneratedBrief({ object }: { readonly object: Resource }) {
  const fleet = useFleet();
  const { generated } = fleet;
  // biome-ignore lint/correctness/useExhaustiveDependencies: of the fleet only these are read
  const found = useMemo(() => generatedObjectsOf(fleet, object), [generated, fleet.snapshot, object]);
  if (found.length === 0) return <span className="muted">{t.common.none}</span>;
  const kinds = [...new Set(found.map(({ resource }) => resource.kind))].sort();
  const clusters = new Set(found.map(({ resource }) => resource.metadata.clusterName ?? "")).size;
  return (
    <Link to="/object/$group/$kind/$cluster/$namespace/$name" params={paramsOf(refOf(object))} search={{ tab: "generated" }}>
      {t.objects.generatedBrief(found.length, kinds.join(", "), clusters)}
    </Link>
  );
}
