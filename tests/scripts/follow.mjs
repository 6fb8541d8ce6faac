// @ts-check
// The scripts' rules for those who ask from another language: numbers and states on stdin, what they make of them on stdout.
import { rulesOver } from "../../assets/atlas/maps/index.mjs";
import { bufferOf, rendered } from "./rendered.mjs";

let text = "";
for await (const chunk of process.stdin) text += chunk;
const answers = [];
for (const { numbers, heads, asked } of JSON.parse(text)) {
  const follow = rulesOver(bufferOf(numbers));
  for (const { state, palette } of asked) answers.push(rendered(follow.view(state, palette), heads));
}
process.stdout.write(JSON.stringify(answers));
