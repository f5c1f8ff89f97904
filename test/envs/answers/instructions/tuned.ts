/** Instructions of public data sets and training recipes that the rule was made with, around "@@", a row's problem. */
import type { ProblemKind } from "../../../../envs/answers/instructions.ts";

export type Wrapping = readonly [source: string, kind: ProblemKind, text: string];

export const tuned: readonly Wrapping[] = [
  ["Qwen2.5-Math", "math", "@@\nPlease reason step by step, and put your final answer within \\boxed{}."],
  ["OpenR1-Math", "math", "Please reason step by step, and put your final answer within \\boxed{}.\n\n@@"],
  ["verl math_dataset", "math", "@@ Let's think step by step and output the final answer within \\boxed{}."],
  ["verl gsm8k", "math", '@@ Let\'s think step by step and output the final answer after "####".'],
  [
    "DAPO-Math-17k",
    "math",
    'Solve the following math problem step by step. The last line of your response should be of the form Answer: $Answer (without quotes) where $Answer is the answer to the problem.\n\n@@\n\nRemember to put your answer on its own line after "Answer:".',
  ],
  ["Eurus-2 / PRIME", "math", "@@\n\nPresent the answer in LaTex format: \\boxed{Your answer}"],
  [
    "Llama 3 MATH",
    "math",
    "@@\n\nRegardless of the approach, always conclude with:\n\nTherefore, the final answer is: $\\boxed{answer}$. I hope it is correct.\n\nWhere [answer] is just the final number or expression that solves the problem.",
  ],
  ["Minerva", "math", "@@\nEnd with: Therefore, the final answer is: $\\boxed{ANSWER}$. I hope it is correct."],
  ["a system prompt put into the problem", "math", "@@\n\nReturn your final response within \\boxed{}. "],
  [
    "Open-Reasoner-Zero",
    "math",
    "A conversation between User and Assistant. The User asks a question, and the Assistant solves it. The Assistant first thinks about the reasoning process in the mind and then provides the User with the answer. The reasoning process is enclosed within <think> </think> and answer is enclosed within <answer> </answer> tags, respectively, i.e., <think> reasoning process here </think> <answer> answer here </answer>. User: You must put your answer inside <answer> </answer> tags, i.e., <answer> answer here </answer>. And your final answer will be extracted automatically by the \\boxed{} tag. @@\nAssistant: <think>",
  ],
  [
    "SimpleRL-Zoo",
    "math",
    "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n@@\nPlease reason step by step, and put your final answer within \\boxed{}.<|im_end|>\n<|im_start|>assistant\n",
  ],
  ["SimpleRL-Zoo, abel", "math", "Question:\n@@\nAnswer:\nLet's think step by step.\n"],
  ["Llama 2 chat", "math", "<s>[INST] <<SYS>>\nYou are a helpful assistant.\n<</SYS>>\n\n@@ [/INST]"],
  [
    "Llama 3 chat",
    "math",
    "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n@@<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
  ],
  ["hh-rlhf", "math", "\n\nHuman: @@\n\nAssistant:"],
  [
    "Alpaca, MetaMath",
    "math",
    "Below is an instruction that describes a task. Write a response that appropriately completes the request.\n\n### Instruction:\n@@\n\n### Response: Let's think step by step.",
  ],
  [
    "TRL GRPO demo",
    "math",
    "@@\n\nRespond in the following format:\n<reasoning>\n...\n</reasoning>\n<answer>\n...\n</answer>\n",
  ],
  [
    "simple-evals, multiple choice",
    "qa",
    "Answer the following multiple choice question. The last line of your response should be of the following format: 'Answer: $LETTER' (without quotes) where LETTER is one of ABCD. Think step by step before answering.\n\n@@",
  ],
  ["LLaVA, VQA", "qa", "@@\nAnswer with the option's letter from the given choices directly."],
  ["MMMU-style", "qa", "@@\nAnswer with the option letter."],
  [
    "MMLU-Pro",
    "qa",
    'Think step by step and then finish your answer with "the answer is (X)" where X is the correct letter choice.\n\n@@',
  ],
  [
    "LiveCodeBench",
    "code",
    "@@\n\nRead the inputs from stdin solve the problem and write the answer to stdout (do not directly test on the sample inputs). Enclose your code within delimiters as follows.\n```python\n# YOUR CODE HERE\n```",
  ],
  ["code-r1", "code", "@@\n\nEnclose your code within ```python and ```."],
  [
    "Eurus-2 code",
    "code",
    "@@\n\nWrite Python code to solve the problem. Present the code in \n```python\nYour code\n```\nat the end.",
  ],
  ["a recipe's clause", "math", "@@ Show your work step by step, and write the final answer in <answer> tags."],
];
