// @ts-check
// The words and texts of a script, by TypeScript's own scanner: comments and patterns are passed over.
import { readFileSync, readdirSync } from "node:fs";

export const ROOT = new URL("../../", import.meta.url);
const PUT_IN = "\0"; // stands for what is put into a template

/**
 * TypeScript's scanner, where tests/check-script-types has fetched it; else null.
 * @returns {Promise<{create: (skipTrivia: boolean) => any, kinds: Record<string, number>} | null>}
 */
async function fetched() {
  try {
    const [folder] = readdirSync(new URL(".venv/", ROOT)).filter((name) => name.startsWith("typescript-"));
    const place = new URL(`.venv/${folder}/node_modules/typescript/dist/ast/`, ROOT);
    const { createScanner } = await import(new URL("scanner.js", place).href);
    const { SyntaxKind } = await import(new URL("index.js", place).href);
    return { create: createScanner, kinds: SyntaxKind };
  } catch {
    return null;
  }
}

const typescript = await fetched();

/** Why the rules cannot be checked; false where they can. */
export const skip = typescript ? false : "TypeScript is not there: run tests/check-script-types";

/**
 * @typedef {object} Words
 * @property {string[]} names identifiers
 * @property {string[]} texts strings and templates, in which a \0 stands for what is put in
 * @property {string[]} tokens all tokens as they are written, but for templates with something put in
 */

/**
 * The identifiers and texts of a script; `"function"` after `typeof` is the language's own.
 * @param {string} source
 * @returns {Words}
 */
export function wordsOf(source) {
  if (!typescript) throw new Error("there is no scanner");
  const { create, kinds } = typescript;
  const scanner = create(true);
  scanner.setText(source);
  /** @type {Words} */
  const words = { names: [], texts: [], tokens: [] };
  /** @type {{text: string, braces: number}[]} */
  const templates = []; // that are open, the innermost last
  const beforeDivision = new Set([
    kinds.Identifier, kinds.NumericLiteral, kinds.StringLiteral, kinds.NoSubstitutionTemplateLiteral, kinds.TemplateTail,
    kinds.CloseParenToken, kinds.CloseBracketToken, kinds.CloseBraceToken, kinds.RegularExpressionLiteral,
  ]);
  const afterTypeof = new Set([
    kinds.Identifier, kinds.DotToken, kinds.QuestionDotToken, kinds.OpenParenToken, kinds.CloseParenToken,
    kinds.OpenBracketToken, kinds.CloseBracketToken, kinds.EqualsEqualsEqualsToken, kinds.ExclamationEqualsEqualsToken,
  ]);
  let before = kinds.Unknown;
  let isType = false;
  for (let kind = scanner.scan(); kind !== kinds.EndOfFile; kind = scanner.scan()) {
    const open = templates.at(-1);
    if ((kind === kinds.SlashToken || kind === kinds.SlashEqualsToken) && !beforeDivision.has(before)) {
      kind = scanner.reScanSlashToken();
    }
    if (kind === kinds.CloseBraceToken && open && open.braces === 0) kind = scanner.reScanTemplateToken(false);
    else if (open && kind === kinds.OpenBraceToken) open.braces += 1;
    else if (open && kind === kinds.CloseBraceToken) open.braces -= 1;
    words.tokens.push(scanner.getTokenText());
    const value = scanner.getTokenValue();
    if (kind === kinds.Identifier || kind === kinds.PrivateIdentifier) words.names.push(value);
    if (kind === kinds.StringLiteral && !(isType && value === "function")) words.texts.push(value);
    if (kind === kinds.NoSubstitutionTemplateLiteral) words.texts.push(value);
    if (kind === kinds.TemplateHead) templates.push({ text: value + PUT_IN, braces: 0 });
    if (kind === kinds.TemplateMiddle && open) open.text += value + PUT_IN;
    if (kind === kinds.TemplateTail && open) words.texts.push(open.text + value), templates.pop();
    isType = kind === kinds.TypeOfKeyword || (isType && afterTypeof.has(kind));
    before = kind;
  }
  return words;
}

/**
 * The scripts in a folder and those within it, by their paths.
 * @param {string} folder
 * @returns {Map<string, string>}
 */
export function scriptsIn(folder) {
  const names = readdirSync(new URL(folder, ROOT), { recursive: true, encoding: "utf8" });
  const scripts = names.filter((name) => /\.m?js$/.test(name)).sort();
  return new Map(scripts.map((name) => [`${folder}${name}`, readFileSync(new URL(folder + name, ROOT), "utf8")]));
}
