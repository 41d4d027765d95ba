// The library keeps its classes in a registry that needs the metadata API, so this import comes first.
import "reflect-metadata";
// Types alone: at run time WebCrypto is a global, in Node as in browsers.
import type { webcrypto } from "node:crypto";
import { internPool, messageOf, textHashOf } from "@isthmus/core";
import { InvalidPem, type PemBlock, pemBlocks, requireSequence } from "@isthmus/core/pem";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  Pkcs10CertificateRequest,
  Pkcs10CertificateRequestGenerator,
  type PublicKey,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { isKeyForm, pkcs8Of } from "./keyForms.ts";

// The one file that knows the X.509 library and WebCrypto: everything else deals in PEM texts and plain values. The library is given DER
// alone: it guesses what a text is by regular expressions that backtrack without end.

cryptoProvider.set(globalThis.crypto);

/** A certificate with its key. `certificate` may be a chain, the own certificate first. */
export interface KeyedCertificate {
  /** PEM */
  readonly certificate: string;
  /** PEM, PKCS #8 */
  readonly key: string;
}

/** What a certificate says. Times are milliseconds since 1970. */
export interface CertificateFacts {
  readonly subject: string;
  readonly organizationalUnit: string | undefined;
  readonly issuer: string;
  readonly serialNumber: string;
  readonly dnsNames: readonly string[];
  readonly uris: readonly string[];
  readonly notBefore: number;
  readonly notAfter: number;
  readonly isAuthority: boolean;
  /** How many authorities may follow below this one; undefined: any number, or it is no authority. */
  readonly pathLength: number | undefined;
  /** Whether its key may sign certificates, as far as its key usage says. */
  readonly mayIssue: boolean;
}

/** What kind of key to make: an elliptic curve P-256, or RSA of so many bits. */
export type NewKey = "P-256" | number;

/** What a new certificate shall say. */
export interface CertificateTemplate {
  readonly commonName: string;
  readonly organizationalUnit?: string;
  readonly organization?: string;
  readonly dnsNames: readonly string[];
  readonly uris: readonly string[];
  readonly notBefore: number;
  readonly notAfter: number;
  /** How many authorities may follow below this one, or any number of them; undefined: no authority. */
  readonly pathLength: number | "any" | undefined;
  readonly usages: readonly ("server" | "client")[];
}

const KEY_ALGORITHM = { name: "ECDSA", namedCurve: "P-256" } as const;
const RSA = { name: "RSASSA-PKCS1-v1_5" } as const;
const SHA_256 = "SHA-256";
const SUBJECT_ALTERNATIVE_NAME = "2.5.29.17";
const BASIC_CONSTRAINTS = "2.5.29.19";
const KEY_USAGE = "2.5.29.15";
const EXTENDED_KEY_USAGE = "2.5.29.37";

/** The facts of the first certificate of a PEM text, or of one in DER. Throws InvalidPem. */
export function certificateFacts(certificate: string | Uint8Array): CertificateFacts {
  return factsOf(parse(certificate));
}

/** The facts of every certificate of a PEM text. Throws InvalidPem when there is none. */
export function chainFacts(pem: string): readonly CertificateFacts[] {
  const facts = parseChain(pem).map(factsOf);
  if (facts.length === 0) throw new InvalidPem("it contains no certificate: PEM has a line -----BEGIN CERTIFICATE-----");
  return facts;
}

/** The SHA-256 of each certificate of a PEM text, in hex. */
export function fingerprints(pem: string): Promise<readonly string[]> {
  const hex = async (certificate: X509Certificate) =>
    Array.from(new Uint8Array(await certificate.getThumbprint(SHA_256)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return Promise.all(parseChain(pem).map(hex));
}

/** The library reads names and extensions when it is asked for them, and throws whatever it comes across. */
function factsOf(certificate: X509Certificate): CertificateFacts {
  try {
    const facts = factsRead.get(certificate) ?? readFacts(certificate);
    factsRead.set(certificate, facts);
    return facts;
  } catch (cause) {
    throw new InvalidPem("not a certificate", { cause });
  }
}

const factsRead = new WeakMap<X509Certificate, CertificateFacts>();

function readFacts(certificate: X509Certificate): CertificateFacts {
  // By OID: asking by class depends on which copy of the library registered it.
  const names = certificate.getExtension<SubjectAlternativeNameExtension>(SUBJECT_ALTERNATIVE_NAME)?.names.items ?? [];
  const ofType = (type: string) => names.filter((name) => name.type === type).map(({ value }) => value);
  return {
    subject: certificate.subject,
    organizationalUnit: certificate.subjectName.getField("OU")[0],
    issuer: certificate.issuer,
    serialNumber: certificate.serialNumber,
    dnsNames: ofType("dns"),
    uris: ofType("url"),
    notBefore: certificate.notBefore.getTime(),
    notAfter: certificate.notAfter.getTime(),
    isAuthority: certificate.getExtension<BasicConstraintsExtension>(BASIC_CONSTRAINTS)?.ca ?? false,
    pathLength: certificate.getExtension<BasicConstraintsExtension>(BASIC_CONSTRAINTS)?.pathLength,
    mayIssue:
      ((certificate.getExtension<KeyUsagesExtension>(KEY_USAGE)?.usages ?? KeyUsageFlags.keyCertSign) & KeyUsageFlags.keyCertSign) !== 0,
  };
}

/** Whether a certificate is signed by another one's key, whatever their names and times say. */
export async function isSignedBy(certificate: string, authority: string): Promise<boolean> {
  const publicKey = await parse(authority).publicKey.export();
  // The library throws for a signature that it cannot read.
  return parse(certificate)
    .verify({ publicKey, signatureOnly: true })
    .catch(() => false);
}

/** Whether a certificate says that it, or those whom it vouches for, are clients and nothing else. */
export function isForClientsAlone(certificate: string): boolean {
  const purposes = parse(certificate).getExtension<ExtendedKeyUsageExtension>(EXTENDED_KEY_USAGE)?.usages ?? [];
  return purposes.length > 0 && purposes.every((purpose) => purpose === ExtendedKeyUsage.clientAuth);
}

/** Whether one of `authorities` has signed the first certificate of a chain, or the authority that comes next in it and has signed the first. Times are not looked at. Throws InvalidPem. */
export async function isIssuedUnder(chain: string, authorities: string): Promise<boolean> {
  const [first, second] = parseChain(chain);
  const anchors = parseChain(authorities);
  if (first === undefined) return false;
  if (await isSignedByAny(first, anchors)) return true;
  return second !== undefined && factsOf(second).isAuthority && (await isSignedByAny(second, anchors)) && isSignedByAny(first, [second]);
}

async function isSignedByAny(certificate: X509Certificate, authorities: readonly X509Certificate[]): Promise<boolean> {
  for (const authority of authorities) {
    if (authority.subject === certificate.issuer && (await isSignatureOf(certificate, authority))) return true;
  }
  return false;
}

/** Neither of them ever changes, nor does the answer. */
async function isSignatureOf(certificate: X509Certificate, authority: X509Certificate): Promise<boolean> {
  const answers = signatures.get(certificate) ?? new WeakMap<X509Certificate, boolean>();
  signatures.set(certificate, answers);
  const known = answers.get(authority);
  if (known !== undefined) return known;
  const answer = await certificate.verify({ publicKey: await authority.publicKey.export(), signatureOnly: true });
  answers.set(authority, answer);
  return answer;
}

const signatures = new WeakMap<X509Certificate, WeakMap<X509Certificate, boolean>>();

/** A new key, and a certificate for it that it has signed itself. */
export async function selfSigned(template: CertificateTemplate, kind: NewKey = "P-256"): Promise<KeyedCertificate> {
  const keys = await newKeys(kind);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...contentOf(template),
    keys,
    signingAlgorithm: { ...keys.privateKey.algorithm, hash: SHA_256 },
    extensions: [...extensionsOf(template), await SubjectKeyIdentifierExtension.create(keys.publicKey)],
  });
  return { certificate: pemOf(certificate), key: await privatePem(keys.privateKey) };
}

/** A new key, and a certificate for it. */
export async function issueWithKey(template: CertificateTemplate, authority: KeyedCertificate): Promise<KeyedCertificate> {
  const keys = await newKeys();
  return { certificate: await issueFor(keys.publicKey, template, authority), key: await privatePem(keys.privateKey) };
}

/**
 * A certificate for the key that a request in PEM holds; names in the request are ignored. Throws InvalidPem when it is no
 * request, is not signed by its own key, or has a weak one.
 */
export async function issueForRequest(request: string, template: CertificateTemplate, authority: KeyedCertificate): Promise<string> {
  const parsed = parseRequest(request);
  if (!(await parsed.verify().catch(() => false))) throw new InvalidPem("the certificate request is not signed by its own key");
  return issueFor(await keyOf(parsed), template, authority);
}

/** A new key and a certificate request for it; with `current`, a request for the key of that certificate. Throws InvalidPem for a key that cannot be used. */
export async function newRequest(
  commonName: string,
  current?: KeyedCertificate,
): Promise<{ readonly request: string; readonly key: string }> {
  const keys = current === undefined ? await newKeys() : await keysOf(current);
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [commonName] }],
    keys,
    signingAlgorithm: { ...keys.privateKey.algorithm, hash: SHA_256 },
  });
  return { request: `${request.toString("pem")}\n`, key: await privatePem(keys.privateKey) };
}

/** A new private key in PEM. */
export async function newKey(kind: NewKey): Promise<string> {
  return privatePem((await newKeys(kind)).privateKey);
}

/** The length of an RSA key's modulus, in bits. Throws InvalidPem for a key of another kind. */
export async function rsaBitsOf(key: string): Promise<number> {
  const { algorithm } = await importPrivateKey(key, RSA, undefined);
  return (algorithm as webcrypto.RsaKeyAlgorithm).modulusLength;
}

/** A certificate request for an RSA key that its holder has, with the names that the certificate is to have. Throws InvalidPem for a key of another kind. */
export async function requestForRsaKey(
  key: string,
  { commonName, organization, uris }: Pick<CertificateTemplate, "commonName" | "organization" | "uris">,
): Promise<string> {
  const privateKey = await importPrivateKey(key, RSA, undefined);
  const jwk = await globalThis.crypto.subtle.exportKey("jwk", privateKey);
  const { kty = "", n = "", e = "" } = jwk;
  const publicKey = await globalThis.crypto.subtle.importKey("jwk", { kty, n, e }, { ...RSA, hash: SHA_256 }, true, ["verify"]);
  const names = new SubjectAlternativeNameExtension(
    uris.map((value) => ({ type: "url" as const, value })),
    true,
  );
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: nameOf({ commonName, ...(organization === undefined ? {} : { organization }) }),
    keys: { publicKey, privateKey },
    signingAlgorithm: { ...privateKey.algorithm, hash: SHA_256 },
    extensions: [names],
  });
  return `${request.toString("pem")}\n`;
}

/** The URIs among the names that a certificate request asks for. Throws InvalidPem. */
export function urisOfRequest(request: string): readonly string[] {
  const parsed = parseRequest(request);
  try {
    const extension = parsed.getExtension(SUBJECT_ALTERNATIVE_NAME) as SubjectAlternativeNameExtension | null;
    return (extension?.names.items ?? []).map(({ type, value }) => (type === "url" ? value : `${type}:${value}`));
  } catch (cause) {
    throw new InvalidPem("the names of the certificate request cannot be read", { cause });
  }
}

/** Whether a private key is the one of a certificate. Throws InvalidPem for what is neither. */
export async function isKeyOf({ certificate, key }: KeyedCertificate): Promise<boolean> {
  const { publicKey } = parse(certificate);
  const privateKey = await importKey(key, publicKey);
  const algorithm = { ...privateKey.algorithm, hash: SHA_256 };
  const signature = await globalThis.crypto.subtle.sign(algorithm, privateKey, PROBE);
  return globalThis.crypto.subtle.verify(algorithm, await publicKey.export(), signature, PROBE);
}

// What is signed matters to nobody.
const PROBE = new Uint8Array(32);

async function keysOf({ certificate, key }: KeyedCertificate): Promise<webcrypto.CryptoKeyPair> {
  const { publicKey } = parse(certificate);
  return { publicKey: await publicKey.export(), privateKey: await importKey(key, publicKey) };
}

/** The SHA-256 of the public key that a certificate request is for, in hex. Throws InvalidPem. */
export function keyOfRequest(request: string): Promise<string> {
  return digestOf(parseRequest(request).publicKey);
}

/** The same of a certificate. */
export function keyOfCertificate(certificate: string): Promise<string> {
  return digestOf(parse(certificate).publicKey);
}

async function digestOf({ rawData }: PublicKey): Promise<string> {
  const digest = await globalThis.crypto.subtle.digest(SHA_256, rawData);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function issueFor(publicKey: webcrypto.CryptoKey, template: CertificateTemplate, authority: KeyedCertificate): Promise<string> {
  const issuer = parse(authority.certificate);
  const signingKey = await importKey(authority.key, issuer.publicKey);
  const certificate = await X509CertificateGenerator.create({
    ...contentOf(template),
    // As it stands in the authority's certificate, and not as a text, which the library would take apart again.
    issuer: issuer.subjectName,
    publicKey,
    signingKey,
    signingAlgorithm: { ...signingKey.algorithm, hash: SHA_256 },
    extensions: [
      ...extensionsOf(template),
      await SubjectKeyIdentifierExtension.create(publicKey),
      await AuthorityKeyIdentifierExtension.create(await issuer.publicKey.export()),
    ],
  });
  return pemOf(certificate);
}

/** Structured, so that a name with a comma stays one name. */
function nameOf({
  commonName,
  organizationalUnit,
  organization,
}: Pick<CertificateTemplate, "commonName" | "organizationalUnit" | "organization">) {
  return [
    ...(commonName === "" ? [] : [{ CN: [commonName] }]),
    ...(organizationalUnit === undefined ? [] : [{ OU: [organizationalUnit] }]),
    ...(organization === undefined ? [] : [{ O: [organization] }]),
  ];
}

function contentOf(template: CertificateTemplate) {
  const { notBefore, notAfter } = template;
  const name = nameOf(template);
  return {
    serialNumber: newSerialNumber(),
    subject: name,
    name,
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
  };
}

function extensionsOf({ dnsNames, uris, pathLength, usages }: CertificateTemplate): Extension[] {
  const isAuthority = pathLength !== undefined;
  const names = [...uris.map((value) => ({ type: "url" as const, value })), ...dnsNames.map((value) => ({ type: "dns" as const, value }))];
  const purposes = usages.map((usage) => (usage === "server" ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth));
  return [
    new BasicConstraintsExtension(isAuthority, pathLength === "any" ? undefined : pathLength, true),
    new KeyUsagesExtension(isAuthority ? KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign : KeyUsageFlags.digitalSignature, true),
    ...(purposes.length > 0 ? [new ExtendedKeyUsageExtension(purposes)] : []),
    ...(names.length > 0 ? [new SubjectAlternativeNameExtension(names)] : []),
  ];
}

function newSerialNumber(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  // Positive, and never shorter for a leading zero. Source: RFC 5280 §4.1.2.2.
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function newKeys(kind: NewKey = "P-256"): Promise<webcrypto.CryptoKeyPair> {
  if (kind === "P-256") return globalThis.crypto.subtle.generateKey(KEY_ALGORITHM, true, ["sign", "verify"]);
  const algorithm = { ...RSA, modulusLength: kind, publicExponent: Uint8Array.of(1, 0, 1), hash: SHA_256 };
  return globalThis.crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

// 2,048 bits is the least that any public authority accepts today. Source: CA/Browser Forum baseline requirements §6.1.5.
const LEAST_RSA_BITS = 2048;

function refuseWeakKey({ algorithm }: PublicKey): void {
  const { name, modulusLength } = algorithm as { readonly name: string; readonly modulusLength?: number };
  if (modulusLength !== undefined && modulusLength < LEAST_RSA_BITS) {
    throw new InvalidPem(`the certificate request has a key of ${modulusLength} bits: ${name} needs at least ${LEAST_RSA_BITS}`);
  }
}

async function keyOf({ publicKey }: Pkcs10CertificateRequest): Promise<webcrypto.CryptoKey> {
  refuseWeakKey(publicKey);
  try {
    return await publicKey.export();
  } catch (cause) {
    throw new InvalidPem("the certificate request has an unsupported key", { cause });
  }
}

function importKey(pem: string, { algorithm }: PublicKey): Promise<webcrypto.CryptoKey> {
  const { namedCurve } = algorithm as { readonly namedCurve?: string };
  return importPrivateKey(pem, algorithm, namedCurve);
}

async function importPrivateKey(
  pem: string,
  algorithm: PublicKey["algorithm"],
  namedCurve: string | undefined,
): Promise<webcrypto.CryptoKey> {
  const block = keyBlock(pem);
  if (block === undefined) throw new InvalidPem("it contains no private key: PEM has a line -----BEGIN PRIVATE KEY-----");
  if (!isKeyForm(block.label)) {
    throw new InvalidPem(`the private key is encrypted or in an unsupported format: ${KEY_REMEDY}`);
  }
  const key = pkcs8Of(block.label, block.der, namedCurve);
  if (key === undefined) throw new InvalidPem("the private key does not match its certificate");
  try {
    // A copy that is an ArrayBuffer of its own, as the types of WebCrypto want it.
    return await globalThis.crypto.subtle.importKey("pkcs8", Uint8Array.from(key), { hash: SHA_256, ...algorithm }, true, ["sign"]);
  } catch (cause) {
    throw new InvalidPem("the private key does not match its certificate", { cause });
  }
}

const KEY_REMEDY = 'convert it with "openssl pkcs8 -topk8 -nocrypt"';

/** The one private key of a PEM text; those of elliptic curves have their parameters before them, as OpenSSL writes them. */
function keyBlock(pem: string): PemBlock | undefined {
  try {
    const [block, ...more] = pemBlocks(pem, 2).filter(({ label }) => label !== "EC PARAMETERS");
    if (more.length > 0) throw new InvalidPem("it has more than one block");
    return block?.label.endsWith("PRIVATE KEY") === true ? block : undefined;
  } catch (cause) {
    if (!(cause instanceof InvalidPem)) throw cause;
    throw new InvalidPem(`the private key cannot be read: ${cause.message}: ${KEY_REMEDY}`, { cause });
  }
}

async function privatePem(key: webcrypto.CryptoKey): Promise<string> {
  return `${PemConverter.encode(await globalThis.crypto.subtle.exportKey("pkcs8", key), PemConverter.PrivateKeyTag)}\n`;
}

function pemOf(certificate: X509Certificate): string {
  return `${certificate.toString("pem")}\n`;
}

function parse(certificate: string | Uint8Array): X509Certificate {
  if (typeof certificate !== "string") return parsed(new Uint8Array(certificate));
  const [first] = parseChain(certificate);
  if (first === undefined) throw new InvalidPem("it contains no certificate: PEM has a line -----BEGIN CERTIFICATE-----");
  return first;
}

/** What was parsed must not be changed: who asks for an equal text again is given the same. */
function parseChain(pem: string): readonly X509Certificate[] {
  // All of it: certificates of one authority begin alike.
  const hash = textHashOf(pem, pem.length);
  const known = recent.withHash(hash);
  if (known?.pem === pem) return known.certificates;
  const blocks = pemBlocks(pem);
  const certificates = blocks.filter(({ label }) => label === "CERTIFICATE").map(({ der }) => parsed(der));
  // A text with a key beside its certificates is not kept for longer than its owner does.
  if (pem.length <= LONGEST_KEPT && certificates.length === blocks.length) recent.keep({ pem, certificates }, hash);
  return certificates;
}

interface ParsedText {
  readonly pem: string;
  readonly certificates: readonly X509Certificate[];
}

// Those who look after certificates ask for the same few at each of their turns, and parsing one takes as long as a hundred look-ups.
const LONGEST_KEPT = 16 * 1024;
const recent = internPool<ParsedText>(256);

function parsed(der: Uint8Array<ArrayBuffer>): X509Certificate {
  requireSequence(der);
  try {
    return new X509Certificate(der);
  } catch (cause) {
    throw new InvalidPem("not a certificate", { cause });
  }
}

const REQUEST_LABELS: ReadonlySet<string> = new Set(["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"]);

function parseRequest(pem: string): Pkcs10CertificateRequest {
  try {
    const [block] = pemBlocks(pem, 1);
    if (block === undefined || !REQUEST_LABELS.has(block.label)) throw new InvalidPem("it contains no certificate request");
    requireSequence(block.der);
    return new Pkcs10CertificateRequest(block.der);
  } catch (cause) {
    throw new InvalidPem(`not a certificate request: PKCS #10 in PEM is expected: ${messageOf(cause)}`, { cause });
  }
}
