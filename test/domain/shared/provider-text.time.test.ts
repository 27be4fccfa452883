import { expect, it } from 'vitest';
import { providerText } from '../../../src/domain/shared/provider-text.ts';

it('a text of a provider with a million line breaks takes no longer than what is kept of it', () => {
  const text = '\n'.repeat(1_000_000);
  const before = process.cpuUsage();
  for (let count = 0; count < 100; count += 1) providerText(text);
  const { user } = process.cpuUsage(before);
  expect(user / 1_000, 'processor time of a hundred texts, in milliseconds').toBeLessThan(100);
});
