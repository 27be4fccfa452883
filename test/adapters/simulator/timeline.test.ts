import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Timeline } from '../../../src/adapters/simulator/timeline.ts';

const instants = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 });

describe('Timeline', () => {
  it('the timeline returns events by instant, and events of one instant in the order they came', () => {
    fc.assert(
      fc.property(instants, (ats) => {
        const timeline = new Timeline<string>();
        for (const [index, at] of ats.entries()) timeline.add(at, `${index}@${at}`);
        const expected = ats
          .map((at, index) => ({ at, index }))
          .sort((a, b) => a.at - b.at || a.index - b.index)
          .map(({ at, index }) => `${index}@${at}`);
        expect(timeline.takeDue(20)).toEqual(expected);
        expect(timeline.nextDueAt()).toBeNull();
      }),
    );
  });

  it('the timeline keeps the order and loses nothing, however adding and taking are mixed', () => {
    const operation = fc.oneof(
      fc.record({ add: fc.integer({ min: 0, max: 20 }) }),
      fc.record({ takeUntil: fc.integer({ min: 0, max: 20 }) }),
    );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 80 }), (operations) => {
        const timeline = new Timeline<number>();
        let kept: { at: number; id: number }[] = [];
        for (const [id, each] of operations.entries()) {
          if ('add' in each) {
            timeline.add(each.add, id);
            kept.push({ at: each.add, id });
          } else {
            const due = kept.filter(({ at }) => at <= each.takeUntil);
            due.sort((a, b) => a.at - b.at || a.id - b.id);
            kept = kept.filter(({ at }) => at > each.takeUntil);
            expect(timeline.takeDue(each.takeUntil)).toEqual(due.map(({ id: dueId }) => dueId));
          }
          expect(timeline.nextDueAt()).toBe(kept.length === 0 ? null : Math.min(...kept.map(({ at }) => at)));
        }
      }),
    );
  });

  it('the timeline takes what is due at the very instant, and leaves what is due a millisecond later', () => {
    const timeline = new Timeline<string>();
    timeline.add(1_001, 'later');
    timeline.add(1_000, 'now');
    expect(timeline.takeDue(999)).toEqual([]);
    expect(timeline.takeDue(1_000)).toEqual(['now']);
    expect(timeline.nextDueAt()).toBe(1_001);
  });
});
