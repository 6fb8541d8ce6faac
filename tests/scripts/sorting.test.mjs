// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { filterOf, filterText, sortOf, sortText } from "../../assets/atlas/sorting.mjs";

/** @typedef {import("../../assets/atlas/sorting.mjs").Grid} Grid */
/** @typedef {import("../../assets/atlas/sorting.mjs").Sorted} Sorted */

/**
 * A grid of three columns, sorted in some way.
 * @param {Sorted[]} sorted
 * @returns {Grid}
 */
function grid(sorted = []) {
  const definitions = { name: { filter: "agTextColumnFilter" }, layer: { filter: "agNumberColumnFilter" } };
  const columns = Object.entries({ ...definitions, "panel.all": { filter: "agNumberColumnFilter", initialSort: "desc" } });
  const there = columns.map(([name, definition]) => ({ getColId: () => name, getColDef: () => definition }));
  const unused = () => assert.fail("not to be called");
  return {
    getColumnState: () => sorted,
    getColumns: () => there,
    applyColumnState: unused,
    getFilterModel: unused,
    setFilterModel: unused,
    addEventListener: unused,
    setGridOption: unused,
    onFilterChanged: unused,
    isAnyFilterPresent: () => assert.fail("not to be called"),
    getDisplayedRowCount: () => assert.fail("not to be called"),
    forEachNodeAfterFilter: unused,
  };
}

test("the default sort is not written, no sort is, and several are in their order", () => {
  assert.equal(sortText(grid([{ colId: "panel.all", sort: "desc" }])), "");
  assert.equal(sortText(grid([{ colId: "panel.all", sort: null }])), "none");
  const two = grid([{ colId: "layer", sort: "asc", sortIndex: 1 }, { colId: "name", sort: "desc", sortIndex: 0 }]);
  assert.equal(sortText(two), "-name,layer");
});

test("a sort is read back; unknown columns are left out, and nothing stands for the default", () => {
  assert.deepEqual(sortOf("-name,layer,<b>", grid()).state, [
    { colId: "name", sort: "desc", sortIndex: 0 },
    { colId: "layer", sort: "asc", sortIndex: 1 },
  ]);
  assert.deepEqual(sortOf("", grid()).state, [{ colId: "panel.all", sort: "desc" }]);
  assert.deepEqual(sortOf("none", grid()).state, []);
});

test("filters are written and read back, whatever is typed into them", () => {
  const model = {
    name: { filterType: "text", type: "contains", filter: "a:b;c+d|e%3a" },
    layer: {
      filterType: "number",
      operator: "OR",
      conditions: [
        { filterType: "number", type: "inRange", filter: 1, filterTo: 5 },
        { filterType: "number", type: "greaterThan", filter: 20 },
      ],
    },
  };
  const text = filterText(model);
  assert.equal(text, "name:contains:a%3ab%3bc%2bd%7ce%253a;layer:inRange:1:5|greaterThan:20");
  assert.deepEqual(filterOf(text, grid()), model);
  assert.equal(filterText({}), "");
  assert.deepEqual(filterOf("nobody:contains:x;;", grid()), {});
});
