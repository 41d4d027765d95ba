import { text } from "node:stream/consumers";
import {
  certificateFacts,
  chainFacts,
  createRequest,
  createRoot,
  fingerprints,
  InvalidPem,
  issueClientCertificate,
} from "@isthmus/certificates";

// Reads a PEM text from standard input wherever one is read, and says how each reader took it. A process of its own: one that stalls can be
// ended.
const now = Date.now();
const options = { dnsNames: ["cluster-1"], now };
const root = await createRoot({ commonName: "root", now });
const { request } = await createRequest("any");
const pem = await text(process.stdin);

const readers: Readonly<Record<string, () => unknown>> = {
  request: () => issueClientCertificate(root, pem, options),
  certificate: () => certificateFacts(pem),
  chain: () => chainFacts(pem),
  der: () => certificateFacts(new TextEncoder().encode(pem)),
  fingerprints: () => fingerprints(pem),
  authority: () => issueClientCertificate({ ...root, certificate: pem }, request, options),
  key: () => issueClientCertificate({ ...root, key: pem }, request, options),
};
for (const [name, read] of Object.entries(readers)) {
  const outcome = await Promise.resolve()
    .then(read)
    .then(
      () => "read",
      (error: unknown) => (error instanceof InvalidPem ? "refused" : `threw ${error}`),
    );
  console.log(`${name} ${outcome}`);
}
