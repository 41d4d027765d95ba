import { describeDocument } from "./document.ts";

describeDocument("docs/migration-from-gloo-mesh.md");
