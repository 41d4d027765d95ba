import { keyOf, kindKeyOf, type Resource, type ResourceRef } from "@isthmus/core";
import { Link } from "@tanstack/react-router";
import type { Fleet } from "../data/fleet.ts";
import { paramsOf } from "../model/objectPath.ts";
import { Name } from "./Name.tsx";

export interface ObjectLinkProps {
  readonly to: ResourceRef;
  /** Instead of namespace/name. */
  readonly text?: string;
  readonly hasKind?: boolean;
}

/** A link to an object's page: its namespace/name, and its cluster where it has one. */
export function ObjectLink({ to, text, hasKind = false }: ObjectLinkProps) {
  const name = `${to.namespace === "" ? "" : `${to.namespace}/`}${to.name}`;
  return (
    <Link className="object-link" to="/object/$group/$kind/$cluster/$namespace/$name" params={paramsOf(to)}>
      {hasKind ? <span className="kind">{to.kind}</span> : null}
      <Name text={text ?? name} />
      {text === undefined && to.clusterName !== "" ? <ClusterChip name={to.clusterName} /> : null}
    </Link>
  );
}

/** The name of a cluster, set apart. */
export function ClusterChip({ name }: { readonly name: string }) {
  return (
    <span className="chip">
      <Name text={name} />
    </span>
  );
}

/** The object that a reference names; its version does not matter. */
export function objectOf(fleet: Fleet, ref: ResourceRef): Resource | undefined {
  const key = kindKeyOf(ref);
  return fleet.snapshot.collections().get(key)?.row(keyOf(ref)) ?? generatedOf(fleet, ref);
}

/** The generated object that a reference names; its version does not matter. */
export function generatedOf(fleet: Fleet, ref: ResourceRef): Resource | undefined {
  return fleet.generated.collections().get(kindKeyOf(ref))?.row(keyOf(ref));
}
