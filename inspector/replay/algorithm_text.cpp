// SPDX-License-Identifier: Apache-2.0
#include "inspector/replay/algorithm_text.h"

namespace stowage::inspector {

std::span<const AlgorithmText> algorithm_texts() {
  static const std::vector<AlgorithmText> texts = {
      {"fusion",
       "Matching",
       "Matching: which operators can run as one",
       "template matching after DNNVM section 4",
       {{"collect every set of operators that a template covers", "", "candidate"},
        {"for each such candidate:"},
        {"  if a rule of structure forbids it: refuse", "", "refused"},
        {"  plan it alone; if it cannot be planned: refuse", "", "refused"},
        {"  note its predicted cycles", "", "costed"},
        {"let the strategy choose candidates so that", "", "chosen"},
        {"  every operator is in exactly one of them", "", "chosen outbid"}}},
      {"search",
       "Path search",
       "Path search: which candidates together cost least",
       "shortest path, DNNVM section 5",
       {{"nodes: how far the network is executed"},
        {"edges: candidates, as long as they take cycles"},
        {"best of the first node is 0"},
        {"for each node in order, for each edge into it:"},
        {"  cost is best of where it starts + its cycles", "", "considered"},
        {"  if cost < best of this node: remember the edge", "", "considered"},
        {"walk back from the last node over what was remembered", "", "taken"}}},
      {"alg4",
       "Alg. 4",
       "Algorithm 4: which iterators move which tensor",
       "swTVM version 1, Algorithm 4",
       {{"for each tensor that needs a buffer:", "3-4, 6"},
        {"  for each of its dimensions:", "7"},
        {"    for each iterator in the subscript:", "8-9"},
        {"      note it for this tensor and dimension", "10", "4:6-10"}}},
      {"parallel",
       "Split",
       "Split over the cores",
       "swTVM section 5.4",
       {{"combine output iterators, highest first,", "", "section"},
        {"  until there are 4 elements for every core", "", "section"},
        {"cut them into a grid of at most as many parts as", "", "section",
         "not printed as an algorithm; the grid stays rectangular where parts do not align"},
        {"  cores, so that the busiest core has least to do", "", "section"},
        {"never cut a reduction: cores would write the", "", "section"},
        {"  same elements", "", "section"},
        {"where the schedule says how: do that", "", "schedule"},
        {"where a search has found the grid: take that", "", "search",
         "planner searched: the grid of the plan of fewest cycles"}}},
      {"alg5",
       "Alg. 5",
       "Algorithm 5: what growing an iterator's buffer would do",
       "swTVM version 1, Algorithm 5",
       {{"the growing dimension of a tensor: its lowest one", "35-54", "",
         "printed UPDATE runs past the last dimension; ours stops there, and passes over dimensions without iterators"},
        {"  with an iterator that is not yet buffered whole"},
        {"for each iterator that is not yet buffered whole:", "25"},
        {"  size? it is in the growing dimension of a tensor", "6-7", "size comp num"},
        {"  num?  it is in a higher dimension of a tensor", "8-10", "size comp num"},
        {"  both:      comp", "11-13", "comp"},
        {"  only size: size (longer blocks)", "14-15", "size"},
        {"  only num:  num (other transfers)", "16-18", "num"},
        {"one that is buffered whole takes no more part", "36", "whole"}}},
      {"alg1",
       "Alg. 1",
       "Algorithm 1: how much of each iterator lies in the LDM",
       "swTVM version 1, Algorithm 1",
       {{"classify the iterators (Algorithm 5)", "3-4", "1:7-11"},
        {"every iterator is buffered by one element", "5-6", "1:7-11 1:fixed",
         "sizes that the schedule fixes are set first"},
        {"if even that does not fit: give up", "", "ldm-capacity", "not printed; the binding buffer is named"},
        {"hold what tiles would compute twice, if it fits", "", "1:whole 1:exceeds",
         "not printed; in groups of several stages the producers' results that tiles have in common"},
        {"list: size ones, then comp ones", "7-9", "1:7-11"},
        {"while the list has iterators not yet started:", "11", "",
         "printed: while the list is not empty, which never ends if nothing is buffered whole"},
        {"  for each of them, once:", "14-15"},
        {"    buffer = min(range, one good DMA block)", "16-20", "1:16-20",
         "printed: 64 elements; ours: the target's good block of bytes / 4, and a range of exactly that is whole"},
        {"    while the buffers exceed the LDM:", "21", "1:21"},
        {"      halve it, to one element at least", "22-28", "1:24",
         "printed: halves only whole buffers and steps back two; ours halves whatever exceeds"},
        {"  classify again; make the list anew", "29-33", "1:29-33"},
        {"forever:", "35"},
        {"  take the next of the list that can grow", "36", "1:37 1:38-40",
         "select is not defined in print; ours goes round in list order"},
        {"  double its buffer, to its range at most", "37", "1:37 1:38-40", "printed: may pass the range"},
        {"  if the buffers now exceed the LDM:", "38", "1:38-40"},
        {"    take that back, and stop growing", "39-40", "1:38-40"},
        {"  if it is buffered whole now:", "41", "1:41-47"},
        {"    classify again; make the list anew", "42-47", "1:41-47"},
        {"these are the sizes", "", "1:chosen"}}},
      {"alg2",
       "Alg. 2",
       "Algorithm 2: in which order the outer loops stand",
       "swTVM version 1, Algorithm 2",
       {{"fill places from the innermost outwards", "13-16"},
        {"for each loop without a place:", "5-6"},
        {"  count the transfers if it were innermost of these:", "7", "2:5-10"},
        {"  a tensor that does not move with it is moved", "", "2:5-10",
         "count is not defined in print; later rounds count only tensors that no placed loop moves"},
        {"  once for all its iterations", "", "2:5-10"},
        {"  an intermediate: how often it is computed", "", "", "not printed; what is computed again counts first"},
        {"the one with least transfers gets the place;", "8-10", "2:18-20",
         "printed `cur < dmatimes` would choose the most; the example needs the least"},
        {"  among equals the order stays", "8", "2:18-20"},
        {"but output loops stay outside of reductions", "", "constraint-2",
         "constraint 2 of version 2 overrules the count"},
        {"until every loop has its place", "16-23", "2:23"}}},
      {"alg3",
       "Alg. 3",
       "Algorithm 3: inside which loop each tensor is moved",
       "swTVM version 1, Algorithm 3",
       {{"for each tensor: the outer loops that it moves with", "3-4", "3:3-4 3:before"},
        {"go through the loops, outermost first:", "6", "3:12-17"},
        {"  strike this loop from every tensor that has it", "12-17", "3:12-17",
         "printed: iter in Sub and iter not in Sub, which is never true; meant: a loop of the tensor"},
        {"  a tensor with none left: its position is known,", "8-9", "3:8-11",
         "printed: checked before striking; then the transfer would stand one loop too deep"},
        {"    so its DMA stands here, no deeper", "10-11", "3:8-11"},
        {"one that has none from the start: before all loops", "", "3:before", "not printed"}}},
      {"result",
       "Result",
       "Result: where everything is moved, how often, and why",
       "counted from the finished loop nest",
       {{"get: fetch the part, wait, then compute with it", "", "get"},
        {"put: store it when its sum is complete", "", "put"},
        {"inside all loops that a part moves with: known there", "", "get put"},
        {"a loop further inside: the LDM keeps the part", "", "all"},
        {"a loop outside that does not move it: moved again", "", "all"}}},
  };
  return texts;
}

const AlgorithmText* find_algorithm(std::string_view name) {
  for (const AlgorithmText& text : algorithm_texts()) {
    if (text.name == name) return &text;
  }
  return nullptr;
}

std::vector<int> lines_of(const AlgorithmText& algorithm, std::string_view mark) {
  std::vector<int> lines;
  for (std::size_t i = 0; i < algorithm.lines.size(); ++i) {
    std::string_view marks = algorithm.lines[i].marks;
    while (!marks.empty()) {
      const std::size_t end = std::min(marks.find(' '), marks.size());
      if (marks.substr(0, end) == mark) lines.push_back(static_cast<int>(i));
      marks.remove_prefix(std::min(end + 1, marks.size()));
    }
  }
  return lines;
}

}  // namespace stowage::inspector
