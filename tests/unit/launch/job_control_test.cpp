#include "launch/job_control.hpp"

#include "support/catch.hpp"

using std::chrono::milliseconds;
using tracso::launch::JobControl;

namespace {

const JobControl::Clock::time_point start{};

}  // namespace

TEST_CASE("job control: we stop when the command has stopped, if somebody can wake us",
          "[launch]") {
  JobControl job;
  CHECK_FALSE(job.is_time_to_stop(true));
  job.stopped(true);
  CHECK(job.is_time_to_stop(true));
  CHECK_FALSE(job.is_time_to_stop(false));
  job.asked_to_stop();
  CHECK(job.is_time_to_stop(false));
  job.continued();
  CHECK_FALSE(job.is_time_to_stop(true));
}

TEST_CASE("job control: woken for news of the command we stop again", "[launch]") {
  JobControl job;
  job.stopped(true);
  job.we_go_on(true, start);
  CHECK(job.is_time_to_stop(true));
  CHECK_FALSE(job.is_to_be_continued(start + milliseconds(1000)));
}

TEST_CASE("job control: who continues us alone means the command", "[launch]") {
  JobControl job;
  job.stopped(true);
  job.we_go_on(false, start);
  CHECK_FALSE(job.is_time_to_stop(true));
  CHECK(job.limited(milliseconds(200)) < milliseconds(50));
  CHECK_FALSE(job.is_to_be_continued(start + milliseconds(10)));
  SECTION("it has been continued itself meanwhile") {
    job.continued();
    CHECK_FALSE(job.is_to_be_continued(start + milliseconds(100)));
  }
  SECTION("it has not") {
    CHECK(job.is_to_be_continued(start + milliseconds(100)));
    CHECK_FALSE(job.is_to_be_continued(start + milliseconds(200)));
  }
}

TEST_CASE("job control: of a command that is not traced nobody tells when it goes on", "[launch]") {
  JobControl job;
  job.stopped(false);
  CHECK_FALSE(job.is_time_to_stop(true));
  job.asked_to_stop();
  CHECK(job.is_time_to_stop(true));
  job.we_go_on(false, start);
  CHECK_FALSE(job.is_time_to_stop(true));
}
