import { beforeEach, expect, it } from 'vitest';
import {
  DISTRUST_MS,
  TrustedProjects,
  UNWATCHED_MAX,
} from '../../../src/adapters/undici/trusted-projects.ts';

let now: number;
let projects: TrustedProjects;

beforeEach(() => {
  now = 1_000;
  projects = new TrustedProjects(() => now);
});

it('a project is trusted when a handshake has succeeded, and others are not', () => {
  expect(projects.trusts('a')).toBe(false);
  projects.noteEnd('a', true, 'succeeded');
  expect([projects.trusts('a'), projects.trusts('b')]).toEqual([true, false]);
});

it('few handshakes of a project are unwatched at a time', () => {
  projects.noteEnd('a', true, 'succeeded');
  for (let begun = 0; begun < UNWATCHED_MAX; begun += 1) {
    expect(projects.trusts('a')).toBe(true);
    projects.begin('a');
  }
  expect(projects.trusts('a')).toBe(false);
  projects.noteEnd('a', false, 'succeeded');
  expect(projects.trusts('a')).toBe(true);
});

it.each([true, false])('a failed handshake ends the trust for long (watched: %s)', (isWatched) => {
  projects.noteEnd('a', true, 'succeeded');
  if (!isWatched) projects.begin('a');
  projects.noteEnd('a', isWatched, 'failed');
  projects.noteEnd('a', true, 'succeeded');
  now += DISTRUST_MS - 1;
  expect(projects.trusts('a')).toBe(false);
  now += 1;
  expect(projects.trusts('a')).toBe(true);
});

it('after a failed handshake trust needs a new success', () => {
  projects.noteEnd('a', true, 'succeeded');
  projects.noteEnd('a', true, 'failed');
  now += DISTRUST_MS;
  expect(projects.trusts('a')).toBe(false);
});

it('a connection that got as far as no handshake changes nothing but its place', () => {
  projects.noteEnd('a', true, 'succeeded');
  for (let begun = 0; begun < UNWATCHED_MAX; begun += 1) projects.begin('a');
  projects.noteEnd('a', false, 'none');
  expect(projects.trusts('a')).toBe(true);
});
