export { InvalidPem } from "@isthmus/core/pem";
export { type AuthorityOptions, createAuthority, createRoot } from "./authority.ts";
export { type IssueOptions, issueClientCertificate, issueServerCertificate } from "./issue.ts";
export { AGENT_LIFETIME_MS, AUTHORITY_LIFETIME_MS, ROOT_LIFETIME_MS, SERVER_LIFETIME_MS } from "./lifetimes.ts";
export {
  createMeshKey,
  createMeshRequest,
  createMeshRoot,
  type IntermediateOptions,
  issueIntermediate,
  type MeshAuthorityOptions,
  meshKeyBits,
} from "./meshAuthority.ts";
export { type CheckedRoot, checkedRoot } from "./meshRoot.ts";
export { readOnce } from "./readOnce.ts";
export { createRequest, createRequestFor, type SigningRequest } from "./request.ts";
export { renewalTime } from "./rotation.ts";
export { type AuthorityStep, authorityStep } from "./trust/authorityStep.ts";
export {
  type AuthorityFacts,
  answerProblem,
  authorityFacts,
  authorityIn,
  authorityTexts,
  earlyProblem,
  externalProblem,
  externalRootProblem,
  type InstalledAuthority,
} from "./trust/installedAuthority.ts";
export { generationsInUse, isHandedOut, type ProxyPod, podsToRestart, type TrustGeneration, trustInForce } from "./trust/trustInForce.ts";
export {
  type MeshTrust,
  type PendingTrust,
  type TrustMember,
  type TrustRequest,
  type TrustRoot,
  type TrustStep,
  trustPlan,
} from "./trust/trustPlan.ts";
export {
  type CertificateFacts,
  certificateFacts,
  chainFacts,
  fingerprints,
  isForClientsAlone,
  isIssuedUnder,
  isKeyOf,
  isSignedBy,
  type KeyedCertificate,
  keyOfCertificate,
  keyOfRequest,
  type NewKey,
} from "./x509.ts";
