// @ts-check
// Jobs: what the server tells of them, pushed over a WebSocket or asked for, and what people ask of them.
import { notify } from "./notes.mjs";
import { PARTS, setStore } from "./page.mjs";
import { state } from "./state.mjs";

/**
 * @typedef {object} Job what the scripts use of one
 * @property {string} id
 * @property {string} model
 * @property {string} state
 * @property {string} stage
 * @property {number} done
 * @property {string} fingerprint
 */

/** @typedef {{detail?: string | {loc: (string | number)[], msg: string}[], message?: string, hint?: string}} Refusal */

const JOBS = "/api/jobs";
const AGAIN = 5000; // milliseconds before a closed socket is opened again; meanwhile the page asks

/** @type {{socket: WebSocket | null, told: string, progress: string | null}} */
const line = { socket: null, told: "", progress: null };

/** Have the jobs pushed, for as long as the page is open. */
export function listenToJobs() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  line.socket = new WebSocket(`${scheme}://${location.host}/live/jobs`);
  line.socket.onmessage = (event) => tellJobs(JSON.parse(event.data));
  line.socket.onclose = () => setTimeout(listenToJobs, AGAIN);
}

/** Ask for the jobs, unless they are pushed. */
export async function pollJobs() {
  if (line.socket && line.socket.readyState === WebSocket.OPEN) return;
  await fetchJobs();
}

async function fetchJobs() {
  const answer = await fetch(JOBS);
  if (answer.ok) tellJobs(await answer.json());
}

/**
 * Put the jobs into their store, when something has changed.
 * @param {Job[]} jobs
 */
function tellJobs(jobs) {
  const told = JSON.stringify(jobs);
  if (told === line.told) return;
  line.told = told;
  setStore(PARTS.jobs, jobs);
}

/**
 * How far the jobs of a model are; changes whenever its map may have more to show.
 * @param {Job[]} jobs
 * @param {string} fingerprint the first characters of it
 */
export function progressOf(jobs, fingerprint) {
  const mine = jobs.filter((job) => fingerprint && job.fingerprint.startsWith(fingerprint));
  return mine.map((job) => `${job.id} ${job.state} ${job.stage.split(":")[0]} ${job.done}`).join();
}

/**
 * Have the map on the screen drawn again when its jobs went on.
 * @param {Job[] | null} jobs
 */
export function jobsTold(jobs) {
  if (!jobs) return;
  const fingerprint = state.heads ? state.heads.model.split("@").at(-1) : "";
  const before = line.progress;
  line.progress = progressOf(jobs, fingerprint || "");
  if (before !== null && line.progress !== before) setStore(PARTS.fresh, line.progress);
}

/**
 * Analyse something; gives the job, or null when the server refused.
 * @param {Record<string, unknown>} body
 */
export function submitJob(body) {
  return ask("POST", JOBS, body);
}

/**
 * @param {string} id
 */
export function cancelJob(id) {
  return ask("DELETE", `${JOBS}/${id}`);
}

/**
 * @param {string} id
 */
export function retryJob(id) {
  return ask("POST", `${JOBS}/${id}/retry`);
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<Job | null>}
 */
async function ask(method, path, body) {
  const headers = { "Content-Type": "application/json" };
  const request = body ? { method, headers, body: JSON.stringify(body) } : { method };
  const answer = await fetch(path, request);
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) notify(refusalText(told) || `The server answered ${answer.status}.`);
  await fetchJobs();
  return answer.ok ? told : null;
}

/**
 * Why the server refused, in words; empty when it does not say.
 * @param {Refusal} told
 */
export function refusalText({ detail, message, hint }) {
  if (Array.isArray(detail)) return detail.map(({ loc, msg }) => `${loc.slice(1).join(" ")}: ${msg}`).join("; ");
  return detail || [message, hint].filter(Boolean).join(". ");
}
