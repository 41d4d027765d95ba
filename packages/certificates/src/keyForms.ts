/** Private keys come in three forms. WebCrypto takes PKCS #8 alone; the other two are what it wraps. All in DER. */

/** Object identifiers of elliptic curves, by the names that WebCrypto has for them. Source: RFC 5480 §2.1.1.1. */
const CURVES: ReadonlyMap<string, readonly number[]> = new Map([
  ["P-256", [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]],
  ["P-384", [0x2b, 0x81, 0x04, 0x00, 0x22]],
  ["P-521", [0x2b, 0x81, 0x04, 0x00, 0x23]],
]);
const EC_PUBLIC_KEY = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const RSA_ENCRYPTION = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];

const [INTEGER, OCTET_STRING, NULL, OBJECT_IDENTIFIER, SEQUENCE] = [0x02, 0x04, 0x05, 0x06, 0x30] as const;

/** The PEM label of each form. */
export type KeyForm = "PRIVATE KEY" | "RSA PRIVATE KEY" | "EC PRIVATE KEY";

/** Whether a PEM label is that of a private key that can be read: unencrypted PKCS #8 (RFC 5208), RSA (RFC 8017) or EC (RFC 5915). */
export function isKeyForm(label: string): label is KeyForm {
  return label === "PRIVATE KEY" || label === "RSA PRIVATE KEY" || label === "EC PRIVATE KEY";
}

/** A key as PKCS #8. `curve` is that of the certificate's key, which an EC key need not name. Undefined for a curve that is not known. */
export function pkcs8Of(form: KeyForm, der: Uint8Array, curve: string | undefined): Uint8Array | undefined {
  if (form === "PRIVATE KEY") return der;
  if (form === "RSA PRIVATE KEY") return wrapped([...tagged(OBJECT_IDENTIFIER, RSA_ENCRYPTION), NULL, 0], der);
  const named = CURVES.get(curve ?? "");
  if (named === undefined) return undefined;
  return wrapped([...tagged(OBJECT_IDENTIFIER, EC_PUBLIC_KEY), ...tagged(OBJECT_IDENTIFIER, named)], der);
}

/** PrivateKeyInfo of version 0. Source: RFC 5208 §5. */
function wrapped(algorithm: readonly number[], key: Uint8Array): Uint8Array {
  return Uint8Array.from(tagged(SEQUENCE, [INTEGER, 1, 0, ...tagged(SEQUENCE, algorithm), ...tagged(OCTET_STRING, [...key])]));
}

function tagged(tag: number, content: readonly number[]): number[] {
  return [tag, ...lengthOf(content.length), ...content];
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff);
  return [0x80 | bytes.length, ...bytes];
}
