import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeyedCertificate } from "../src/index.ts";

/** Whether this machine can make one. */
export const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

/** An authority of a user's own PKI, as the product's guide has it made with OpenSSL. */
export function rsaAuthority(bits: number): KeyedCertificate {
  const directory = mkdtempSync(join(tmpdir(), "authority-"));
  try {
    const [key, certificate] = [join(directory, "key.pem"), join(directory, "certificate.pem")];
    const what = ["-newkey", `rsa:${bits}`, "-nodes", "-keyout", key, "-out", certificate, "-days", "30", "-subj", "/CN=own authority"];
    execFileSync("openssl", ["req", "-x509", ...what, "-addext", "keyUsage=critical,keyCertSign"], { stdio: "ignore" });
    return { certificate: readFileSync(certificate, "utf8"), key: readFileSync(key, "utf8") };
  } finally {
    rmSync(directory, { recursive: true });
  }
}
