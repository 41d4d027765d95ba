/** The certificates of a text, PEM, in its order. */
export function certificatesIn(text: string): readonly string[] {
  return text.split(/(?=-----BEGIN CERTIFICATE-----)/).filter((one) => one.startsWith("-----BEGIN CERTIFICATE-----"));
}

/** Whether two texts, PEM, are of the same certificate. */
export function sameCertificates(one: string, other: string): boolean {
  return one.trim() === other.trim();
}
