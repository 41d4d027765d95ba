import { heldBytes, MEBIBYTE } from "@isthmus/testing";
import { expect, test } from "vitest";
import { namedKinds } from "../src/session/bounds.ts";
import { rejectionFrom } from "../src/session/wire.ts";

// A message is let go, whatever is kept of it: an agent decides how long it is.
test.each([
  ["the message of a rejection", (message: string) => rejectionFrom({ ref: undefined, code: "Failed", message } as never)],
  ["the code of a rejection", (code: string) => rejectionFrom({ ref: undefined, code, message: "" } as never)],
  ["names of kinds", (kind: string) => namedKinds([kind])],
])("of %s its bound is kept", (_, make) => {
  expect(heldBytes(make)).toBeLessThan(MEBIBYTE);
});
