// @ts-check
// A map's numbers as the server packs them: a header of facts, then arrays (dashboard/maps/packing.py).

/** @typedef {Uint8Array | Uint16Array | Int16Array | Float64Array} Packed */
/** @typedef {{type: string, offset: number, length: number}} Place */
/** @typedef {Record<string, any> & {map: string}} Facts what the header says beside the arrays */
/** @typedef {{facts: Facts, arrays: Record<string, any>}} Answer */

const TYPES = { u1: Uint8Array, u2: Uint16Array, i2: Int16Array, f8: Float64Array };

/**
 * Facts and arrays of an answer.
 * @param {ArrayBuffer} buffer
 * @returns {Answer}
 */
export function unpacked(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const { arrays: places, ...facts } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  /** @type {Record<string, Packed>} */
  const arrays = {};
  for (const [name, place] of /** @type {[string, Place][]} */ (Object.entries(places))) {
    const type = TYPES[/** @type {keyof typeof TYPES} */ (place.type)];
    arrays[name] = new type(buffer, 4 + length + place.offset, place.length);
  }
  return { facts, arrays };
}
