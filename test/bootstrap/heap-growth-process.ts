import { getHeapSpaceStatistics } from 'node:v8';
import { limitHeapGrowth } from '../../src/bootstrap/heap-growth.ts';

/** Says how many times what it keeps the old part of its heap takes at most, while garbage outlives its youth. */

const KEPT_OBJECTS = 400_000;
const ROUNDS = 120;
const OBJECTS_PER_ROUND = 20_000;
/** Objects of so many rounds are alive: longer than two collections of the young part. */
const ROUNDS_ALIVE = 6;

if (process.argv[2] === 'limited') limitHeapGrowth();
const kept = objects(KEPT_OBJECTS);
global.gc?.();
const keptBytes = oldBytes();
const alive: unknown[] = [];
let most = 0;
for (let round = 0; round < ROUNDS; round += 1) {
  alive.push(objects(OBJECTS_PER_ROUND));
  if (alive.length > ROUNDS_ALIVE) alive.shift();
  most = Math.max(most, oldBytes());
}
process.send?.(kept.length === KEPT_OBJECTS ? most / keptBytes : null);

function objects(count: number): unknown[] {
  return Array.from({ length: count }, (_, index) => ({ index, text: `${index}`, list: [index] }));
}

function oldBytes(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')?.space_used_size ?? 0;
}
