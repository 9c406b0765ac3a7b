import type { Report } from './tables.ts';
export async function drawPicture(_report: Report): Promise<string> {
  return '';
}
