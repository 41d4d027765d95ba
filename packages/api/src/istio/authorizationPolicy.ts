import { Type } from "@sinclair/typebox";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { fields, listOf, strings } from "../shared/schema.ts";
import { podSelector } from "./fragments.ts";
import { SECURITY_VERSIONS } from "./versions.ts";

const source = fields({ principals: strings(), namespaces: strings() });
const operation = fields({ paths: strings(), methods: strings(), ports: strings(), notPorts: strings() });
const rule = fields({ from: listOf(fields({ source })), to: listOf(fields({ operation })) });

/** Who may call which pods. Source: istio.io/docs/reference/config/security/authorization-policy. */
export const AuthorizationPolicy = defineKind({
  apiVersion: "security.istio.io/v1",
  kind: "AuthorizationPolicy",
  plural: "authorizationpolicies",
  versions: SECURITY_VERSIONS,
  fields: { spec: fields({ selector: podSelector, action: Type.String(), rules: listOf(rule) }) },
});
export type AuthorizationPolicy = ReturnType<typeof AuthorizationPolicy.parse>;

/** One way to be allowed: any `from` and any `to`; an absent one holds for every request. */
export type AuthorizationRule = Value<typeof rule>;
/** A caller: every member that is given must hold, any value of it. Istio refuses a source without members. */
export type AuthorizationSource = Value<typeof source>;
