import type { Condition } from "@isthmus/core";
import type { AgentInfo } from "@isthmus/ports";

// Agents renew before two thirds of a certificate's life have passed: what is left of the rest has failed more than once.
const OVERDUE_AFTER = 3 / 4;

export type CertificateValidity = "RenewedInTime" | "RenewalOverdue" | "Expired";

/** How the certificate of an agent stands; undefined without one. `now`: milliseconds since 1970. */
export function certificateValidity(agent: AgentInfo | undefined, now: number): CertificateValidity | undefined {
  if (agent?.certificate === undefined) return undefined;
  const { notBefore, notAfter } = agent.certificate;
  if (now >= notAfter) return "Expired";
  return now < notBefore + (notAfter - notBefore) * OVERDUE_AFTER ? "RenewedInTime" : "RenewalOverdue";
}

/** The condition that says so. */
export function certificateExpiring(agent: AgentInfo | undefined, standing: CertificateValidity | undefined): readonly Condition[] {
  if (agent?.certificate === undefined || standing === undefined) return [];
  const type = "CertificateExpiring";
  const expiry = new Date(agent.certificate.notAfter).toISOString();
  if (standing === "RenewedInTime") {
    return [{ type, status: "False", reason: standing, message: `the agent's certificate is valid until ${expiry}` }];
  }
  const message =
    `the agent's certificate ${standing === "Expired" ? "expired" : "expires"} at ${expiry} and was not renewed: see the agent's log; ` +
    "if it is your own certificate, replace it in Secret relay-client-tls-secret";
  return [{ type, status: "True", reason: standing, message }];
}
