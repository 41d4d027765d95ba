export { InvalidPem } from "@isthmus/core/pem";
export { type AuthorityOptions, createAuthority, createRoot } from "./authority.ts";
export { type IssueOptions, issueClientCertificate, issueServerCertificate } from "./issue.ts";
export { AGENT_LIFETIME_MS, AUTHORITY_LIFETIME_MS, ROOT_LIFETIME_MS, SERVER_LIFETIME_MS } from "./lifetimes.ts";
export { createRequest, createRequestFor, type SigningRequest } from "./request.ts";
export { renewalTime } from "./rotation.ts";
export {
  type CertificateFacts,
  certificateFacts,
  chainFacts,
  fingerprints,
  isForClientsAlone,
  isIssuedUnder,
  isSignedBy,
  type KeyedCertificate,
  keyOfCertificate,
  keyOfRequest,
} from "./x509.ts";
