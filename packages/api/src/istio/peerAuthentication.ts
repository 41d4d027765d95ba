import { Type } from "@sinclair/typebox";
import { declaredAlone } from "../shared/declaredFields.ts";
import { defineKind } from "../shared/defineKind.ts";
import { fields, mapOf } from "../shared/schema.ts";
import { podSelector } from "./fragments.ts";
import { SECURITY_VERSIONS } from "./versions.ts";

// UNSET, DISABLE, PERMISSIVE or STRICT; a later Istio may have more, so that it is any text.
const mtls = fields({ mode: Type.String() });

const spec = fields({ selector: podSelector, mtls, portLevelMtls: mapOf(mtls) });

/** Whether pods take connections with mutual TLS, without it, or both. Read only. Source: istio.io/docs/reference/config/security/peer_authentication. */
export const PeerAuthentication = defineKind(
  {
    apiVersion: "security.istio.io/v1",
    kind: "PeerAuthentication",
    plural: "peerauthentications",
    versions: SECURITY_VERSIONS,
    fields: { spec },
  },
  declaredAlone({ spec }),
);
export type PeerAuthentication = ReturnType<typeof PeerAuthentication.parse>;
