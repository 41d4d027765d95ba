import { describeDocument } from "./document.ts";

describeDocument("docs/observe-mode.md");
