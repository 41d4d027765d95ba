import { expect, it } from "vitest";
import { bytesOfBase64 } from "../src/index.ts";

it("decodes every byte, and throws for what is not base64", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  expect(bytesOfBase64(Buffer.from(bytes).toString("base64"))).toEqual(bytes);
  expect(bytesOfBase64("")).toEqual(new Uint8Array());
  expect(() => bytesOfBase64("a*b")).toThrow();
});
