import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { beforeEach, expect, it } from 'vitest';
import { HeldBodies } from '../../../../src/adapters/http/input/held-bodies.ts';

const BYTES_MAX = 100;

let requests: IncomingMessage[];
let closed: [index: number, network: string][];
let held: HeldBodies;

beforeEach(() => {
  requests = Array.from({ length: 4 }, () => new IncomingMessage(new Socket()));
  closed = [];
  held = new HeldBodies(BYTES_MAX, (request, network) => closed.push([requests.indexOf(request), network]));
});

const at = (index: number) => requests[index] as IncomingMessage;

it('no body is closed while all of them hold as much as they may', () => {
  held.hold(at(0), 60, 'a');
  held.hold(at(1), 40, 'a');
  expect([closed, held.bytes]).toEqual([[], BYTES_MAX]);
});

it('beyond the limit the body that began first is closed, though another address has more', () => {
  held.hold(at(0), 20, 'light');
  held.hold(at(1), 40, 'heavy');
  held.hold(at(2), 40, 'other');
  held.hold(at(3), 10, 'heavy');
  expect([closed, held.bytes]).toEqual([[[0, 'light']], 90]);
});

it('of an address that has more than half, the body that began first is closed, and none of another address', () => {
  held.hold(at(0), 20, 'light');
  held.hold(at(1), 40, 'heavy');
  held.hold(at(2), 40, 'heavy');
  held.hold(at(3), 10, 'light');
  expect([closed, held.bytes]).toEqual([[[1, 'heavy']], 70]);
});

it('as many bodies are closed as it takes', () => {
  held.hold(at(0), 30, 'a');
  held.hold(at(1), 30, 'b');
  held.hold(at(2), 30, 'c');
  held.hold(at(3), 50, 'd');
  expect([closed.map(([index]) => index), held.bytes]).toEqual([[0, 1], 80]);
});

it('the body that began first is closed also when more of it has just come', () => {
  held.hold(at(0), 40, 'a');
  held.hold(at(1), 40, 'b');
  held.hold(at(2), 20, 'c');
  held.hold(at(0), 41, 'a');
  expect([closed.map(([index]) => index), held.bytes]).toEqual([[0], 60]);
});

it('a body that is complete counts and is not closed: the next one is', () => {
  held.hold(at(0), 60, 'a');
  held.complete(at(0));
  held.hold(at(1), 30, 'a');
  held.hold(at(2), 30, 'b');
  expect([closed.map(([index]) => index), held.bytes]).toEqual([[1], 90]);
});

it('a body is closed itself when all others are complete', () => {
  held.hold(at(0), 60, 'a');
  held.complete(at(0));
  held.hold(at(1), 50, 'b');
  expect([closed.map(([index]) => index), held.bytes]).toEqual([[1], 60]);
});

it('a body that is released counts no longer, complete or not', () => {
  held.hold(at(0), 60, 'a');
  held.complete(at(0));
  held.hold(at(1), 40, 'a');
  held.release(at(0));
  held.release(at(1));
  held.complete(at(2));
  held.release(at(2));
  held.hold(at(2), BYTES_MAX, 'a');
  expect([closed, held.bytes]).toEqual([[], BYTES_MAX]);
});

it('complete bodies do not count for the half: the unfinished ones of a busy receiver stay', () => {
  held.hold(at(0), 60, 'busy');
  held.complete(at(0));
  held.hold(at(1), 10, 'busy');
  held.hold(at(2), 30, 'heavy');
  held.hold(at(3), 10, 'light');
  expect([closed, held.bytes]).toEqual([[[2, 'heavy']], 80]);
});
