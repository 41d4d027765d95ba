import { Type } from "@sinclair/typebox";
import { projectedMetadata } from "../kubernetes/project.ts";
import { type DefinedResource, defineKind, type Value } from "../shared/defineKind.ts";
import { fields, mapOf, stringMap, strings } from "../shared/schema.ts";

// Users write much more than we do: what they write is carried as it is.
const anything = mapOf(Type.Unknown());

/** What Cilium says of a policy: `Valid` is its own word on whether it took it. Cilium before 1.17 has no conditions. */
const status = fields({ conditions: Type.Array(fields({ type: Type.String(), status: Type.String(), message: Type.String() })) });

const policyFields = { spec: anything, specs: Type.Array(anything), status };

/** Which callers reach which pods, at the network layer. Source: docs.cilium.io, CiliumNetworkPolicy. */
export const CiliumNetworkPolicy = defineKind(
  {
    apiVersion: "cilium.io/v2",
    kind: "CiliumNetworkPolicy",
    plural: "ciliumnetworkpolicies",
    fields: policyFields,
  },
  projectedPolicy,
);
export type CiliumNetworkPolicy = ReturnType<typeof CiliumNetworkPolicy.parse>;

/** The same for a whole cluster. Read only: none is ever written. */
export const CiliumClusterwideNetworkPolicy = defineKind(
  {
    apiVersion: "cilium.io/v2",
    kind: "CiliumClusterwideNetworkPolicy",
    plural: "ciliumclusterwidenetworkpolicies",
    namespaced: false,
    fields: policyFields,
  },
  projectedPolicy,
);
export type CiliumClusterwideNetworkPolicy = ReturnType<typeof CiliumClusterwideNetworkPolicy.parse>;

/** When Cilium came to its conditions is nothing to anybody else. */
function projectedPolicy(policy: DefinedResource<typeof policyFields>): DefinedResource<typeof policyFields> {
  const { apiVersion, kind, spec, specs, status: { conditions = [] } = {} } = policy;
  const { resourceVersion: _, ...metadata } = projectedMetadata(policy.metadata);
  const kept = conditions.flatMap(({ type, status = "", message }) =>
    type === "Valid" ? [{ type, status, ...(message === undefined ? {} : { message }) }] : [],
  );
  return {
    apiVersion,
    kind,
    metadata,
    ...(spec === undefined ? {} : { spec }),
    ...(specs === undefined ? {} : { specs }),
    ...(kept.length === 0 ? {} : { status: { conditions: kept } }),
  };
}

const requirement = fields({ key: Type.String(), operator: Type.String(), values: strings() });
const endpointSelector = fields({ matchLabels: stringMap(), matchExpressions: Type.Array(requirement) });
const portRule = fields({ ports: Type.Array(fields({ port: Type.String(), protocol: Type.String() })) });
const ingressRule = fields({
  fromEndpoints: Type.Array(endpointSelector),
  fromEntities: strings(),
  toPorts: Type.Array(portRule),
});

/** Pods by their labels, each key with the source of the label: `k8s:app`. */
export type CiliumEndpointSelector = Value<typeof endpointSelector>;
/** One way to be let in: any of the callers, to any of the ports; without ports, to all of them. Without members: nobody. */
export type CiliumIngressRule = Value<typeof ingressRule>;
/** A part of what a rule lets callers reach: at most 40 ports. */
export type CiliumPortRule = Value<typeof portRule>;
