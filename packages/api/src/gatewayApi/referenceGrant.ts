import { Type } from "@sinclair/typebox";
import { declaredAlone } from "../shared/declaredFields.ts";
import { defineKind } from "../shared/defineKind.ts";
import { fields, listOf } from "../shared/schema.ts";
import { STANDARD_VERSIONS } from "./versions.ts";

const from = fields({ group: Type.String(), kind: Type.String(), namespace: Type.String() });
const to = fields({ group: Type.String(), kind: Type.String(), name: Type.String() });
const spec = fields({ from: listOf(from), to: listOf(to) });

/**
 * Which objects of other namespaces may name those of its own; without one, a route leads to Services of its own namespace alone. Read only.
 * Source: gateway-api.sigs.k8s.io/api-types/referencegrant.
 */
export const ReferenceGrant = defineKind(
  {
    apiVersion: "gateway.networking.k8s.io/v1beta1",
    kind: "ReferenceGrant",
    plural: "referencegrants",
    versions: [...STANDARD_VERSIONS].reverse(),
    fields: { spec },
  },
  declaredAlone({ spec }),
);
export type ReferenceGrant = ReturnType<typeof ReferenceGrant.parse>;
