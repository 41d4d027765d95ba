import { describeDocument } from "./document.ts";

describeDocument("docs/own-pki.md");
