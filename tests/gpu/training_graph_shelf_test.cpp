// Which kept graph a segment takes: of its shape, never the one taken last, and the oldest makes room.

#include "gpu/training_graph_shelf.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace fp4proof::gpu::training {
namespace {

SegmentShape shape(std::uint64_t calls, std::size_t nodes = 3) { return {calls, nodes}; }

void expect_new(GraphShelf& shelf, const SegmentShape& wanted, std::size_t place) {
  const GraphShelf::Choice choice = shelf.take(wanted);
  EXPECT_FALSE(choice.is_kept);
  EXPECT_EQ(choice.place, place);
}

void expect_kept(GraphShelf& shelf, const SegmentShape& wanted, std::size_t place) {
  const GraphShelf::Choice choice = shelf.take(wanted);
  EXPECT_TRUE(choice.is_kept);
  EXPECT_EQ(choice.place, place);
}

TEST(GraphShelf, SegmentsOfAStepKeepTheirGraphs) {
  GraphShelf shelf(8);
  for (std::size_t i = 0; i < 5; ++i) expect_new(shelf, shape(i), i);
  for (int step = 0; step < 3; ++step) {
    for (std::size_t i = 0; i < 5; ++i) expect_kept(shelf, shape(i), i);
  }
}

TEST(GraphShelf, CallsAndNodesMakeAShape) {
  GraphShelf shelf(8);
  expect_new(shelf, shape(1, 3), 0);
  expect_new(shelf, shape(1, 4), 1);
  expect_new(shelf, shape(2, 3), 2);
  expect_kept(shelf, shape(1, 3), 0);
  expect_kept(shelf, shape(1, 4), 1);
}

TEST(GraphShelf, TheGraphTakenLastIsLeftAlone) {
  GraphShelf shelf(8);
  expect_new(shelf, shape(7), 0);
  expect_new(shelf, shape(7), 1);
  for (int turn = 0; turn < 3; ++turn) {
    expect_kept(shelf, shape(7), 0);
    expect_kept(shelf, shape(7), 1);
  }
  expect_new(shelf, shape(8), 2);
  const GraphShelf::Choice either = shelf.take(shape(7));
  EXPECT_TRUE(either.is_kept);
  EXPECT_LT(either.place, 2U);
}

TEST(GraphShelf, TheOldestMakesRoom) {
  GraphShelf shelf(3);
  for (std::size_t i = 0; i < 3; ++i) expect_new(shelf, shape(i), i);
  expect_kept(shelf, shape(0), 0);
  expect_new(shelf, shape(3), 1);
  expect_new(shelf, shape(1), 2);
  expect_kept(shelf, shape(0), 0);
  expect_kept(shelf, shape(3), 1);
}

/// The smallest shelf: what runs is never what makes room.
TEST(GraphShelf, TwoPlacesAreEnough) {
  GraphShelf shelf(2);
  std::size_t last = shelf.take(shape(0)).place;
  for (std::uint64_t turn = 1; turn < 50; ++turn) {
    const std::size_t place = shelf.take(shape(turn * turn % 7)).place;
    EXPECT_NE(place, last);
    EXPECT_LT(place, 2U);
    last = place;
  }
}

}  // namespace
}  // namespace fp4proof::gpu::training
