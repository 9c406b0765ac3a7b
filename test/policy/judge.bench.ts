/** How long a judgement takes with 200 rules: `node test/policy/judge.bench.ts`. Prints; asserts nothing. */
import { judge, preparePolicy } from '../../src/policy/index.ts';
import { fileCall, rulesOf, session, shellCall, surroundings } from './support.ts';

const rule = (index: number): object => {
  const kinds = [
    { tool: 'group:fs', when: { path: { glob: `area-${index}/**/*.{ts,js}` } }, effect: 'ask' },
    { tool: 'write', when: { path: { under: `secrets/${index}` } }, effect: 'deny' },
    { tool: 'shell', when: { command: { glob: `tool-${index} *` } }, effect: 'deny' },
    { tool: 'web_*', when: { url: { host: `*.example-${index}.com` } }, effect: 'ask' },
  ];
  return { name: `rule ${index}`, ...kinds[index % kinds.length] };
};

const rules = rulesOf({
  rules: Array.from({ length: 120 }, (_, index) => rule(index)),
  agents: { default: { rules: Array.from({ length: 80 }, (_, index) => rule(120 + index)), deny: ['message'] } },
});
const calls = {
  'read a file': () => fileCall('read', 'src/a/b/c.ts'),
  'write a file': () => fileCall('write', 'src/a/b/c.ts', 'write'),
  'shell in the sandbox': () => shellCall('npm run build && npm test -- --reporter=dot | tail -n 20'),
  'shell outside': () => shellCall('ls -la | grep src | head -n 5; date +%s', { sandbox: false }),
  'shell, 50 commands': () =>
    shellCall(Array.from({ length: 50 }, (_, index) => `echo ${index} "a b"`).join(' && '), { sandbox: false }),
};

await preparePolicy();
for (const [name, make] of Object.entries(calls)) {
  const times: number[] = [];
  for (let run = 0; run < 2_200; run += 1) {
    const call = make();
    const started = performance.now();
    judge(call, session(), rules, surroundings);
    if (run >= 200) times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): string => (times[Math.floor(times.length * share)] ?? 0).toFixed(3);
  console.log(`${name.padEnd(22)} p50 ${at(0.5)} ms  p95 ${at(0.95)} ms  p99 ${at(0.99)} ms`);
}
