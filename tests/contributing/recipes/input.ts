import { insertBefore } from "../edit.ts";
import type { Recipe } from "../recipe.ts";

/** The Workloads of a Destination's mesh, as an input of its translation. */
export const input: Recipe = {
  heading: "Adding an input of DestinationInputs",
  isNightly: true,
  names: { join: "meshWorkloads" },
  edits: [
    insertBefore(
      "packages/translators/src/meshes/inputs.ts",
      "  /** The object with the settings of its mesh, of the kind that the mesh's translator names. */",
      "  /** The Workloads of its mesh, in key order. */\n  readonly meshWorkloads: readonly Workload[];\n",
    ),
    insertBefore(
      "packages/translators/src/attachment/assembly.ts",
      "  callingMeshes,\n",
      "  meshWorkloads: join({ from: destinations, key: byMesh, to: workloads, index: byMesh }),\n",
    ),
    insertBefore(
      "packages/translators/src/attachment/assembly.ts",
      "      callingMeshes: internList(",
      '      meshWorkloads: lookup("meshWorkloads"),\n',
    ),
  ],
  tests: ["packages/translators/test/incremental.test.ts"],
  golden: {},
};
