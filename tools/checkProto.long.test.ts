import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkProto } from "./checkProto.ts";

test("checkProto accepts what proto/ gives, and names a generated file that was edited, is gone or is too many", async () => {
  const root = mkdtempSync(join(tmpdir(), "isthmus-gen-"));
  const generated = join(root, "packages/relay/src/gen");
  try {
    for (const folder of ["packages/relay/src/gen", "packages/dataplane/src/gen"]) cpSync(folder, join(root, folder), { recursive: true });
    expect((await checkProto(root)).problems).toEqual([]);

    const edited = join(generated, "relay/v1/relay_pb.ts");
    writeFileSync(edited, `${readFileSync(edited, "utf8")}// by hand\n`);
    rmSync(join(generated, "relay/v1/registration_pb.ts"));
    writeFileSync(join(generated, "old_pb.ts"), "");
    rmSync(join(root, "packages/dataplane/src/gen/envoy/service/accesslog/v3/als_pb.ts"));
    const { problems } = await checkProto(root);
    expect(problems.map((problem) => problem.split(" ")[0])).toEqual([
      ...["old_pb.ts", "relay/v1/registration_pb.ts", "relay/v1/relay_pb.ts"].map((name) => `packages/relay/src/gen/${name}`),
      "packages/dataplane/src/gen/envoy/service/accesslog/v3/als_pb.ts",
    ]);
  } finally {
    rmSync(root, { recursive: true });
  }
});
