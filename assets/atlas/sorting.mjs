// @ts-check
// Sort and filter of the table as an address has them: "-panel.all,layer" (descending, then ascending), and
// "best:contains:capital;layer:greaterThan:10". Columns have their ids.

/** @typedef {{colId: string, sort?: "asc" | "desc" | null, sortIndex?: number | null}} Sorted */
/** @typedef {{filterType?: string, type?: string, filter?: unknown, filterTo?: unknown}} Condition */
/** @typedef {Condition & {operator?: string, conditions?: Condition[]}} ColumnFilter */
/** @typedef {{getColId: () => string, getColDef: () => {filter?: unknown, initialSort?: string | null}}} Column */

/**
 * @typedef {object} Grid what is used of AG Grid
 * @property {() => Sorted[]} getColumnState
 * @property {(wanted: {state: Sorted[], defaultState: {sort: null}}) => void} applyColumnState
 * @property {() => Record<string, ColumnFilter>} getFilterModel
 * @property {(model: Record<string, ColumnFilter>) => void} setFilterModel
 * @property {() => Column[] | null} getColumns
 * @property {(event: string, listener: (event: any) => void) => void} addEventListener
 * @property {(option: string, value: unknown) => void} setGridOption
 * @property {() => void} onFilterChanged
 * @property {() => boolean} isAnyFilterPresent
 * @property {() => number} getDisplayedRowCount
 * @property {(each: (node: {data?: {at: number}}) => void) => void} forEachNodeAfterFilter
 */

const NUMBERS = "agNumberColumnFilter";
const JOINED = { AND: "+", OR: "|" };

/**
 * @param {Sorted[]} columns
 */
function written(columns) {
  const sorted = columns.filter(({ sort }) => sort);
  sorted.sort((one, other) => (one.sortIndex ?? 0) - (other.sortIndex ?? 0));
  return sorted.map(({ colId, sort }) => (sort === "desc" ? `-${safe(colId)}` : safe(colId))).join();
}

/**
 * How a table is sorted before anybody sorts it.
 * @param {Grid} grid
 * @returns {Sorted[]}
 */
function initial(grid) {
  const columns = [];
  for (const column of grid.getColumns() || []) {
    const sort = column.getColDef().initialSort;
    if (sort === "asc" || sort === "desc") columns.push({ colId: column.getColId(), sort });
  }
  return /** @type {Sorted[]} */ (columns);
}

/**
 * The sort of a table; empty for the default one, "none" for none.
 * @param {Grid} grid
 */
export function sortText(grid) {
  const text = written(grid.getColumnState()) || "none";
  return text === (written(initial(grid)) || "none") ? "" : text;
}

/**
 * What sorts a table as a text says; columns that it does not have are left out.
 * @param {string} text
 * @param {Grid} grid
 */
export function sortOf(text, grid) {
  const there = new Set((grid.getColumns() || []).map((column) => column.getColId()));
  /** @type {Sorted[]} */
  const chosen = [];
  for (const part of text.split(",")) {
    const colId = plain(part.replace(/^-/, ""));
    if (there.has(colId)) chosen.push({ colId, sort: part.startsWith("-") ? "desc" : "asc", sortIndex: chosen.length });
  }
  return { state: text ? chosen : initial(grid), defaultState: { sort: null } };
}

/**
 * The filter of a table; empty for none.
 * @param {Record<string, ColumnFilter>} model
 */
export function filterText(model) {
  const columns = [];
  for (const [name, filter] of Object.entries(model)) {
    const sign = filter.operator === "OR" ? JOINED.OR : JOINED.AND;
    const conditions = filter.conditions ? filter.conditions : [filter];
    columns.push(`${safe(name)}:${conditions.map(conditionText).join(sign)}`);
  }
  return columns.join(";");
}

/**
 * @param {Condition} condition
 */
function conditionText({ type = "", filter, filterTo }) {
  const values = [filter, filterTo].filter((value) => value !== undefined && value !== null);
  return [type, ...values.map((value) => safe(String(value)))].join(":");
}

/**
 * A value without the signs that separate values.
 * @param {string} text
 */
function safe(text) {
  return text.replace(/[%:;+|,]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
}

/**
 * What filters a table as a text says; columns that it does not have are left out.
 * @param {string} text
 * @param {Grid} grid
 * @returns {Record<string, ColumnFilter>}
 */
export function filterOf(text, grid) {
  const kinds = new Map((grid.getColumns() || []).map((column) => [column.getColId(), column.getColDef().filter]));
  /** @type {Record<string, ColumnFilter>} */
  const model = {};
  for (const part of text.split(";").filter(Boolean)) {
    const [, column, rest] = /^([^:]*):(.*)$/.exec(part) || [];
    const name = plain(column || "");
    if (!kinds.has(name)) continue;
    const filterType = kinds.get(name) === NUMBERS ? "number" : "text";
    const operator = rest.includes(JOINED.OR) ? "OR" : "AND";
    const conditions = rest.split(JOINED[operator]).map((condition) => conditionOf(condition, filterType));
    model[name] = conditions.length > 1 ? { filterType, operator, conditions } : conditions[0];
  }
  return model;
}

/**
 * @param {string} text
 * @param {string} filterType
 * @returns {Condition}
 */
function conditionOf(text, filterType) {
  const [type, ...values] = text.split(":").map(plain);
  const [filter, filterTo] = filterType === "number" ? values.map(Number) : values;
  return filterTo === undefined ? { filterType, type, filter } : { filterType, type, filter, filterTo };
}

/**
 * @param {string} text
 */
function plain(text) {
  return text.replace(/%(25|3a|3b|2b|7c|2c)/g, (code) => decodeURIComponent(code));
}
