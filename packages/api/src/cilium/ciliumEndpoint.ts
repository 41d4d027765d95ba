import { Type } from "@sinclair/typebox";
import { foreignFields } from "../kubernetes/schema.ts";
import { type DefinedResource, defineKind, type Value } from "../shared/defineKind.ts";

const status = foreignFields({
  identity: foreignFields({ id: Type.Integer(), labels: Type.Array(Type.String()) }),
  networking: foreignFields({
    addressing: Type.Array(foreignFields({ ipv4: Type.String(), ipv6: Type.String() })),
    node: Type.String(),
  }),
  "named-ports": Type.Array(foreignFields({ name: Type.String(), port: Type.Integer(), protocol: Type.String() })),
  state: Type.String(),
  policy: foreignFields({ ingress: foreignFields({ enforcing: Type.Boolean() }) }),
  "service-account": Type.String(),
});

const endpointFields = { status };

/**
 * What Cilium knows of a pod, whose name it has. Of what it writes again at each regeneration nothing is kept, nor its log, nor the lists of
 * identities that are let in, which are long. Source: docs.cilium.io, CiliumEndpoint; github.com/cilium/cilium pkg/k8s/apis/cilium.io/v2.
 */
export const CiliumEndpoint = defineKind(
  { apiVersion: "cilium.io/v2", kind: "CiliumEndpoint", plural: "ciliumendpoints", fields: endpointFields },
  projectedEndpoint,
);
export type CiliumEndpoint = ReturnType<typeof CiliumEndpoint.parse>;

type Endpoint = DefinedResource<typeof endpointFields>;

function projectedEndpoint({ apiVersion, kind, metadata, status: known }: Endpoint): Endpoint {
  const { name, namespace, clusterName, ownerReferences = [] } = metadata;
  const pods = ownerReferences.flatMap((owner) => (owner.kind === "Pod" ? [{ apiVersion: "v1", kind: owner.kind, name: owner.name }] : []));
  const kept = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(clusterName === undefined ? {} : { clusterName }),
    ...(pods.length === 0 ? {} : { ownerReferences: pods }),
  };
  return { apiVersion, kind, metadata: kept, ...(known === undefined ? {} : { status: projectedStatus(known) }) };
}

function projectedStatus(known: Value<typeof status>): Value<typeof status> {
  const { identity, networking, state, policy } = known;
  const [ports, account, enforcing] = [known["named-ports"], known["service-account"], policy?.ingress?.enforcing];
  return {
    ...(identity === undefined ? {} : { identity: picked(identity, ["id", "labels"]) }),
    ...(networking === undefined ? {} : { networking: projectedNetworking(networking) }),
    ...(ports === undefined ? {} : { "named-ports": ports.map((port) => picked(port, ["name", "port", "protocol"])) }),
    ...(state === undefined ? {} : { state }),
    ...(enforcing === undefined ? {} : { policy: { ingress: { enforcing } } }),
    ...(account === undefined ? {} : { "service-account": account }),
  };
}

type Networking = NonNullable<Value<typeof status>["networking"]>;

function projectedNetworking({ addressing, node }: Networking): Networking {
  return {
    ...(addressing === undefined ? {} : { addressing: addressing.map((address) => picked(address, ["ipv4", "ipv6"])) }),
    ...(node === undefined ? {} : { node }),
  };
}

/** These members of a value, where it has them. */
function picked<T extends object, K extends keyof T>(value: T, names: readonly K[]): Pick<T, K> {
  const entries = names.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]] as const]));
  return Object.fromEntries(entries) as Pick<T, K>;
}
