import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { sampledTests } from "./sampledTests.ts";

test("npm run test:long runs each test file again that tries only a part in npm test", () => {
  const found = sampledTests(fileURLToPath(new URL("..", import.meta.url)));
  expect(found).toEqual(
    expect.arrayContaining([
      "packages/translators/test/globalAccess.property.test.ts",
      "packages/translators/src/policy/precedence.test.ts",
      "packages/translators/test/discoveryProperties.test.ts",
      "packages/relay/test/links.test.ts",
    ]),
  );
  expect(found).not.toContain("packages/core/test/table.test.ts");
});
