import type { Resource } from "@isthmus/core";
import { t } from "../strings.ts";
import { conditionsOf } from "./status.ts";

interface CountedStatus {
  readonly targetCount?: number;
  readonly errors?: readonly string[];
  readonly warnings?: readonly string[];
}

function statusOf(policy: Resource): CountedStatus {
  return (policy as Resource & { readonly status?: CountedStatus }).status ?? {};
}

/** The first thing that a policy's status says beyond that it is valid; "" when there is nothing. */
export function policyMessage(policy: Resource): string {
  const { errors = [], warnings = [], targetCount } = statusOf(policy);
  const refused = conditionsOf(policy).find(({ status, message }) => status === "False" && message !== undefined);
  return errors[0] ?? refused?.message ?? warnings[0] ?? (targetCount === 0 ? t.policies.noEffect : "");
}
