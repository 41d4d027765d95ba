import { Type } from "@sinclair/typebox";
import { projectedMetadata } from "../kubernetes/project.ts";
import { foreignFields } from "../kubernetes/schema.ts";
import { defineKind } from "../shared/defineKind.ts";

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

/**
 * What Cilium knows of a pod, whose name it has. It is written anew at each regeneration: of what changes then, nothing is kept, nor the
 * lists of identities that are let in, which are long. Source: docs.cilium.io, CiliumEndpoint.
 */
export const CiliumEndpoint = defineKind(
  { apiVersion: "cilium.io/v2", kind: "CiliumEndpoint", plural: "ciliumendpoints", fields: { status } },
  (endpoint) => {
    const {
      apiVersion,
      kind,
      metadata: { name, namespace, clusterName },
      status: known,
    } = endpoint;
    const metadata = projectedMetadata({
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(clusterName === undefined ? {} : { clusterName }),
    });
    if (known === undefined) return { apiVersion, kind, metadata };
    const { identity, networking, state } = known;
    const [ports, account, enforcing] = [known["named-ports"], known["service-account"], known.policy?.ingress?.enforcing];
    const { id, labels } = identity ?? {};
    const { addressing, node } = networking ?? {};
    return {
      apiVersion,
      kind,
      metadata,
      status: {
        ...(identity === undefined
          ? {}
          : { identity: { ...(id === undefined ? {} : { id }), ...(labels === undefined ? {} : { labels }) } }),
        ...(networking === undefined
          ? {}
          : { networking: { ...(addressing === undefined ? {} : { addressing }), ...(node === undefined ? {} : { node }) } }),
        ...(ports === undefined ? {} : { "named-ports": ports }),
        ...(state === undefined ? {} : { state }),
        ...(enforcing === undefined ? {} : { policy: { ingress: { enforcing } } }),
        ...(account === undefined ? {} : { "service-account": account }),
      },
    };
  },
);
export type CiliumEndpoint = ReturnType<typeof CiliumEndpoint.parse>;
