/** Words of the simple commands in a line that is not plain, as far as they can be told. For finding files that it names; nothing is decided by it. */
import { parse, type SyntaxNode, forEachChild } from 'unbash';

const MAX_LENGTH = 16_384;
const MAX_COMMANDS = 100;

export function looseWords(command: string): string[][] {
  const found: string[][] = [];
  if (command.length > MAX_LENGTH) return found;
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'Command' && node.name !== undefined && found.length < MAX_COMMANDS) {
      found.push([node.name, ...node.suffix].flatMap((word) => (word.type === 'Word' ? [word.value] : [])));
    }
    forEachChild(node, (child) => visit(child));
  };
  try {
    visit(parse(command));
  } catch {
    return found;
  }
  return found;
}
